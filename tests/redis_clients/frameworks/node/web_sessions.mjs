// connect-redis with express-session against a cache: two servers share the sessions of users who
// log in over HTTP.
import { once } from 'node:events';
import { RedisStore } from 'connect-redis';
import express from 'express';
import session from 'express-session';
import { createClient } from 'redis';

const [host, port] = process.argv.slice(2);
const client = createClient({ socket: { host, port: Number(port) } });
const prefix = 'sess:';
const patience = 30000;

function want(what, got, wanted) {
  if (JSON.stringify(got) === JSON.stringify(wanted)) return;
  console.error(`${what}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`);
  process.exit(1);
}

async function startServer(store, maxAge) {
  const app = express();
  app.use(express.json());
  app.use(session({
    store, secret: 'secret', resave: false, saveUninitialized: false, cookie: { maxAge } }));
  app.post('/login', (request, response, next) => {
    request.session.regenerate((error) => {
      if (error) return next(error);
      request.session.user = request.body.user;
      request.session.visits = 0;
      response.json(request.session.user);
    });
  });
  app.get('/', (request, response) => {
    if (!request.session.user) return response.status(401).json('log in');
    request.session.visits += 1;
    response.json([request.session.user, request.session.visits]);
  });
  app.get('/user', (request, response) => response.json(request.session.user ?? null));
  app.post('/logout', (request, response, next) => {
    request.session.destroy((error) => (error ? next(error) : response.json('bye')));
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, address: `http://127.0.0.1:${server.address().port}` };
}

class Browser {
  cookie = '';

  async request(method, url, body) {
    const response = await fetch(url, {
      method, body: body && JSON.stringify(body),
      headers: { cookie: this.cookie, 'content-type': 'application/json', connection: 'close' } });
    const cookie = response.headers.get('set-cookie');
    if (cookie) this.cookie = cookie.split(';')[0];
    const text = await response.text();
    if (response.status >= 500) want(`${method} ${url}`, text, 'no error');
    return JSON.parse(text);
  }
}

async function runLogin(_store, [first, second]) {
  const browser = new Browser();
  want('a visit without a session', await browser.request('GET', first), 'log in');
  want('no cookie before the login', browser.cookie, '');
  want('the login', await browser.request('POST', `${first}/login`, { user: 'ada' }), 'ada');
  const cookie = browser.cookie;
  want('a visit', await browser.request('GET', first), ['ada', 1]);
  want('a visit of the other server', await browser.request('GET', second), ['ada', 2]);
  await browser.request('POST', `${second}/login`, { user: 'eve' });
  want('the cookie of a second login differs', browser.cookie !== cookie, true);
  want('the second user', await browser.request('GET', first), ['eve', 1]);
  const old = new Browser();
  old.cookie = cookie;
  want('the session before the second login', await old.request('GET', first), 'log in');
  want('the logout', await browser.request('POST', `${first}/logout`), 'bye');
  want('a visit after the logout', await browser.request('GET', second), 'log in');
  want('keys after the logout', await client.keys(`${prefix}*`), []);
}

async function runTouch(_store, [address]) {
  const browser = new Browser();
  await browser.request('POST', `${address}/login`, { user: 'ada' });
  const [key] = await client.keys(`${prefix}*`);
  await client.expire(key, 1000);
  await browser.request('GET', `${address}/user`);
  const seconds = await client.ttl(key);
  want('the time of life after a visit', seconds > 3500 && seconds <= 3600, true);
  await browser.request('POST', `${address}/logout`);
}

async function runExpiry(store) {
  const { server, address } = await startServer(store, 4000);
  const browser = new Browser();
  await browser.request('POST', `${address}/login`, { user: 'ada' });
  want('a visit in time', await browser.request('GET', `${address}/user`), 'ada');
  const limit = Date.now() + patience;
  while ((await client.keys(`${prefix}*`)).length !== 0 && Date.now() < limit) {
    await new Promise((done) => setTimeout(done, 100));
  }
  want('a visit after the expiry', await browser.request('GET', address), 'log in');
  server.close();
}

const callStore = (store, method, ...values) => new Promise((resolve, reject) => {
  store[method](...values, (error, result) => (error ? reject(error) : resolve(result)));
});

async function runStore(store, [first, second]) {
  const users = [...Array(120).keys()].map((each) => `user${each}`);
  await Promise.all(users.map((user, each) => new Browser().request('POST',
    `${each % 2 ? first : second}/login`, { user })));
  want('the number of sessions', await callStore(store, 'length'), users.length);
  const sessions = await callStore(store, 'all');
  want("all sessions' users", sessions.map(({ user }) => user).sort(), users.sort());
  want('the identifiers', (await callStore(store, 'ids')).sort(),
    sessions.map(({ id }) => id).sort());
  await callStore(store, 'clear');
  want('the number of sessions after clear', await callStore(store, 'length'), 0);
}

await client.connect();
const store = new RedisStore({ client });
const servers = [await startServer(store, 3600000), await startServer(store, 3600000)];
const addresses = servers.map(({ address }) => address);
for (const run of [runLogin, runTouch, runExpiry, runStore]) {
  await run(store, addresses);
  console.log(run.name, 'done');
}
process.exit(0);
