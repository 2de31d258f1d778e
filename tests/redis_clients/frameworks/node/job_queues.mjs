// BullMQ, Bull, Bee-Queue and rate-limiter-flexible against a cache: real workers, with the
// defaults of each.
import BeeQueue from 'bee-queue';
import Bull from 'bull';
import { FlowProducer, Queue, QueueEvents, Worker } from 'bullmq';
import IORedis from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';

const [host, port] = process.argv.slice(2);
const connection = { host, port: Number(port) };
const patience = 30000;

function want(what, got, wanted) {
  if (JSON.stringify(got) === JSON.stringify(wanted)) return;
  console.error(`${what}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`);
  process.exit(1);
}

async function runBullMq() {
  const queue = new Queue('tasks', { connection });
  const events = new QueueEvents('tasks', { connection });
  await events.waitUntilReady();
  const tries = [];
  const worker = new Worker('tasks', async (job) => {
    if (job.name === 'flaky') {
      tries.push(job.attemptsMade);
      if (tries.length < 3) throw new Error('not yet');
    }
    if (job.name === 'parent') return Object.values(await job.getChildrenValues()).sort();
    await job.updateProgress(50);
    return job.data.first + job.data.second;
  }, { connection, concurrency: 4 });
  const sum = (first, second, options) => queue.add('add', { first, second }, options);
  const jobs = await Promise.all([...Array(20).keys()].map((each) => sum(each, each)));
  const sums = await Promise.all(jobs.map((job) => job.waitUntilFinished(events, patience)));
  want("BullMQ's jobs", sums, [...Array(20).keys()].map((each) => 2 * each));
  const bulk = await queue.addBulk([{ name: 'add', data: { first: 1, second: 2 } },
    { name: 'add', data: { first: 3, second: 4 }, opts: { priority: 1 } }]);
  want("BullMQ's jobs in bulk",
    await Promise.all(bulk.map((job) => job.waitUntilFinished(events, patience))), [3, 7]);
  const late = await sum(20, 22, { delay: 300 });
  want("BullMQ's delayed job", await late.waitUntilFinished(events, patience), 42);
  const flaky = await queue.add('flaky', { first: 1, second: 1 },
    { attempts: 5, backoff: { type: 'fixed', delay: 100 } });
  want("BullMQ's job that is tried again", await flaky.waitUntilFinished(events, patience), 2);
  want("BullMQ's tries", tries, [0, 1, 2]);
  const flow = new FlowProducer({ connection });
  const tree = await flow.add({
    name: 'parent', queueName: 'tasks', data: {},
    children: [{ name: 'add', queueName: 'tasks', data: { first: 1, second: 1 } },
      { name: 'add', queueName: 'tasks', data: { first: 2, second: 2 } }] });
  want("BullMQ's flow", await tree.job.waitUntilFinished(events, patience), [2, 4]);
  await queue.upsertJobScheduler('ticks', { every: 200, limit: 2 },
    { name: 'add', data: { first: 1, second: 1 } });
  await new Promise((done) => setTimeout(done, 1000));
  want("BullMQ's counts", (await queue.getJobCounts('failed', 'active', 'waiting')),
    { failed: 0, active: 0, waiting: 0 });
  await worker.close();
  await queue.obliterate({ force: true });
  await Promise.all([flow.close(), events.close(), queue.close()]);
}

async function runBull() {
  const queue = new Bull('old', { redis: connection });
  queue.process(3, async (job) => job.data.first * job.data.second);
  const jobs = await Promise.all([...Array(10).keys()].map(
    (each) => queue.add({ first: each, second: 2 }, { delay: each % 2 ? 100 : 0 })));
  want("Bull's jobs", await Promise.all(jobs.map((job) => job.finished())),
    [...Array(10).keys()].map((each) => 2 * each));
  want("Bull's counts", (await queue.getJobCounts()).completed, 10);
  await queue.close();
}

async function runBee() {
  const queue = new BeeQueue('bees', { redis: connection, activateDelayedJobs: true });
  await queue.ready();
  queue.process(async (job) => job.data.first + 1);
  const answers = [...Array(10).keys()].map(async (each) => {
    const job = queue.createJob({ first: each });
    if (each % 2) job.delayUntil(Date.now() + 200);
    const done = new Promise((resolve) => { job.on('succeeded', resolve); });
    await job.save();
    return done;
  });
  want("Bee-Queue's jobs", await Promise.all(answers), [...Array(10).keys()].map((each) => each + 1));
  await queue.close();
}

async function runLimiter() {
  const client = new IORedis(connection);
  const limiter = new RateLimiterRedis({ storeClient: client, points: 3, duration: 10 });
  const seen = [];
  for (let turn = 0; turn < 4; ++turn) {
    await limiter.consume('user').then(({ remainingPoints }) => seen.push(remainingPoints),
      ({ remainingPoints }) => seen.push(['refused', remainingPoints]));
  }
  want("rate-limiter-flexible", seen, [2, 1, 0, ['refused', 0]]);
  client.defineCommand('raise', {
    numberOfKeys: 1,
    lua: "local v = redis.call('INCRBY', KEYS[1], ARGV[1]); return {v, cjson.encode({v = v})}" });
  want("ioredis's own command", await client.raise('number', 5), [5, '{"v":5}']);
  want('the same in a pipeline', await client.pipeline().raise('number', 1).get('number').exec(),
    [[null, [6, '{"v":6}']], [null, '6']]);
  client.disconnect();
}

for (const run of [runBullMq, runBull, runBee, runLimiter]) {
  await run();
  console.log(run.name, 'done');
}
process.exit(0);
