// What both programs of this folder share: comparing, and how they begin and end.
import { isDeepStrictEqual, inspect } from "node:util";

/** RESP3's maps come without a prototype; they are compared by what they hold. */
function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object" || Object.getPrototypeOf(value) !== null) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}

export function want(what, got, wanted) {
  if (isDeepStrictEqual(plain(got), wanted)) return;
  throw new Error(`${what}: got ${inspect(got)}, wanted ${inspect(wanted)}`);
}

export function wantTrue(what, condition, got) {
  if (!condition) throw new Error(`${what}: got ${inspect(got)}`);
}

/** The error's text, of what must fail. */
export async function failureOf(what, promise) {
  let value;
  try {
    value = await promise;
  } catch (error) {
    return error.message;
  }
  throw new Error(`${what}: got ${inspect(value)}, wanted an error`);
}

/** A listener, and the promise of its first `count` calls' arguments. */
export function hearing(count) {
  const heard = [];
  let done;
  const all = new Promise((resolve) => (done = resolve));
  const listen = (...words) => {
    heard.push(words);
    if (heard.length === count) done(heard);
  };
  return { listen, all };
}

export function run(name, talk) {
  const [host, port] = process.argv.slice(2);
  if (!port) {
    console.error(`usage: ${name} HOST PORT`);
    process.exit(2);
  }
  const patience = setTimeout(() => {
    console.error(`${name}: no answer for 30 s`);
    process.exit(1);
  }, 30_000);
  talk(host, Number(port)).then(
    () => clearTimeout(patience),
    (error) => {
      console.error(`${name}: ${error.stack}`);
      process.exit(1);
    },
  );
}
