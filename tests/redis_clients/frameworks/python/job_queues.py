"""Celery, RQ, Dramatiq, Huey and SAQ against a cache: real workers, with the defaults of each."""

import asyncio
import operator
import sys
import threading

import celery
import dramatiq
import huey
import redis
import rq
import saq
from celery.contrib.testing.worker import start_worker
from checks import PATIENCE, want
from dramatiq.brokers.redis import RedisBroker
from dramatiq.results import Results
from dramatiq.results.backends import RedisBackend


def run_celery(url):
    app = celery.Celery("tasks", broker=url, backend=url)
    app.conf.broker_connection_retry_on_startup = True

    @app.task(name="add")
    def add(first, second):
        return first + second

    @app.task(name="total")
    def total(numbers):
        return sum(numbers)

    @app.task(name="retried", bind=True, max_retries=2)
    def retried(self):
        if self.request.retries < 2:
            raise self.retry(countdown=0.1)
        return self.request.retries

    with start_worker(app, perform_ping_check=False, pool="solo"):
        want("celery's task", add.delay(1, 2).get(timeout=PATIENCE), 3)
        group = celery.group(add.s(each, each) for each in range(20))
        want("celery's group", sum(group().get(timeout=PATIENCE)), 380)
        chord = celery.chord((add.s(each, 1) for each in range(10)), total.s())
        want("celery's chord", chord().get(timeout=PATIENCE), 55)
        want("celery's chain", celery.chain(add.s(1, 2), add.s(3))().get(timeout=PATIENCE), 6)
        want("celery's countdown", add.apply_async((3, 4), countdown=0.5).get(timeout=PATIENCE), 7)
        want("celery's retries", retried.delay().get(timeout=PATIENCE), 2)


def run_rq(url):
    client = redis.Redis.from_url(url)
    queue = rq.Queue(connection=client)
    jobs = [queue.enqueue(operator.add, each, 1) for each in range(10)]
    last = queue.enqueue(operator.mul, 6, 7, depends_on=jobs)
    failing = queue.enqueue(operator.truediv, 1, 0)
    rq.SimpleWorker([queue], connection=client).work(burst=True)
    want("RQ's jobs", [job.return_value() for job in jobs], list(range(1, 11)))
    rq.SimpleWorker([queue], connection=client).work(burst=True)
    want("RQ's job that waits for others", last.return_value(), 42)
    want("RQ's job that fails", failing.get_status(), rq.job.JobStatus.FAILED)
    registry = rq.registry.FailedJobRegistry(queue=queue)
    want("RQ's failed jobs", registry.get_job_ids(), [failing.id])
    client.flushdb()


def run_dramatiq(url):
    broker = RedisBroker(url=url)
    broker.add_middleware(Results(backend=RedisBackend(url=url)))
    dramatiq.set_broker(broker)
    seen = threading.Event()

    @dramatiq.actor(store_results=True)
    def add(first, second):
        return first + second

    @dramatiq.actor
    def late():
        seen.set()

    worker = dramatiq.Worker(broker, worker_timeout=100)
    worker.start()
    try:
        got = dramatiq.group(add.message(each, each) for each in range(20)).run()
        numbers = sorted(got.get_results(block=True, timeout=PATIENCE * 1000))
        want("Dramatiq's group", numbers, [2 * each for each in range(20)])
        late.send_with_options(delay=300)
        want("Dramatiq's delayed message", seen.wait(PATIENCE), True)
        broker.join(add.queue_name)
    finally:
        worker.stop()


def run_huey(url):
    tasks = huey.RedisHuey("tasks", url=url)
    order = []

    @tasks.task(retries=2)
    def add(first, second):
        return first + second

    @tasks.task()
    @tasks.lock_task("one at a time")
    def locked(number):
        order.append(number)
        return number

    consumer = tasks.create_consumer(workers=2, check_worker_health=False)
    consumer.start()
    try:
        want("Huey's task", add(1, 2).get(blocking=True, timeout=PATIENCE), 3)
        later = add.schedule((3, 4), delay=1)
        want("Huey's scheduled task", later.get(blocking=True, timeout=PATIENCE), 7)
        want("Huey's locked task", locked(5).get(blocking=True, timeout=PATIENCE), 5)
        chain = add.s(1, 1).then(add, 5)
        want("Huey's chain", tasks.enqueue(chain).get(blocking=True, timeout=PATIENCE), [2, 7])
    finally:
        consumer.stop(graceful=True)


def run_saq(url):
    async def add(_context, *, first, second):
        return first + second

    async def work():
        queue = saq.Queue.from_url(url)
        worker = saq.Worker(queue, functions=[("add", add)])
        working = asyncio.create_task(worker.start())
        await queue.connect()
        # At its start a worker sweeps away jobs that seem to be left from an earlier one.
        await asyncio.sleep(1)
        want("SAQ's job", await queue.apply("add", first=1, second=2, timeout=PATIENCE), 3)
        numbers = await queue.map("add", [{"first": each, "second": 1} for each in range(10)],
                                  timeout=PATIENCE)
        want("SAQ's jobs", numbers, list(range(1, 11)))
        await worker.stop()
        working.cancel()
        await queue.disconnect()

    asyncio.run(work())


for number, run in enumerate((run_celery, run_rq, run_dramatiq, run_huey, run_saq)):
    run(f"redis://{sys.argv[1]}:{sys.argv[2]}/{number}")
    print(run.__name__, "done", flush=True)
