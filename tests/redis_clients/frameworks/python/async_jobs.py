"""arq against a cache: two workers, with its defaults and aborts allowed."""

import asyncio
import sys
import time
from datetime import timedelta

import arq
from arq.connections import RedisSettings
from arq.jobs import JobStatus
from checks import PATIENCE, eventually_async, want

seconds = []


async def add(_context, first, second):
    return first + second


async def flaky(context):
    if context["job_try"] < 3:
        raise arq.Retry(defer=0.1)
    return context["job_try"]


async def failing(_context):
    raise ValueError("no number")


async def endless(_context):
    await asyncio.sleep(PATIENCE)


async def tick(context):
    """Notes the second that the job is for; its identifier has it in milliseconds."""
    seconds.append(int(context["job_id"].rpartition(":")[2]) // 1000)


def worker(settings):
    return arq.Worker(
        functions=[add, flaky, failing, endless], redis_settings=settings, handle_signals=False,
        cron_jobs=[arq.cron(tick, second=set(range(60)))], allow_abort_jobs=True)


async def run_jobs(pool):
    jobs = [await pool.enqueue_job("add", each, 1) for each in range(20)]
    results = [await job.result(timeout=PATIENCE) for job in jobs]
    want("arq's jobs", results, list(range(1, 21)))
    want("arq's status of a job", await jobs[0].status(), JobStatus.complete)
    info = await jobs[0].result_info()
    want("arq's account of a job", (info.function, info.args, info.success), ("add", (0, 1), True))
    want("arq's results", len(await pool.all_job_results()) >= 20, True)


async def run_deferred(pool):
    late = await pool.enqueue_job("add", 20, 22, _job_id="late", _defer_by=timedelta(seconds=2))
    want("arq's status of a deferred job", await late.status(), JobStatus.deferred)
    same = await pool.enqueue_job("add", 1, 1, _job_id="late")
    want("arq's second job with one identifier", same, None)
    want("arq's deferred job", await late.result(timeout=PATIENCE), 42)


async def run_failures(pool):
    job = await pool.enqueue_job("flaky")
    want("arq's job that is tried again", await job.result(timeout=PATIENCE), 3)
    job = await pool.enqueue_job("failing")
    try:
        want("arq's job that fails", await job.result(timeout=PATIENCE), "an error")
    except ValueError as error:
        want("arq's error of a job", str(error), "no number")


async def run_abort(pool):
    job = await pool.enqueue_job("endless")

    async def is_running():
        return await job.status() == JobStatus.in_progress

    await eventually_async("arq's job in progress", is_running)
    want("arq's abort of a job", await job.abort(timeout=PATIENCE), True)


async def run_cron(_pool):
    """Both workers enqueue the job of each second; it runs once."""

    async def has_run_often():
        return len(seconds) >= 3

    await eventually_async("arq's cron job", has_run_often)
    want("arq's seconds of a cron job", sorted(seconds), sorted(set(seconds)))


async def main():
    settings = RedisSettings(host=sys.argv[1], port=int(sys.argv[2]))
    pool = await arq.create_pool(settings)
    workers = [worker(settings) for _ in range(2)]
    working = [asyncio.create_task(each.async_run()) for each in workers]
    for run in (run_jobs, run_deferred, run_failures, run_abort, run_cron):
        await run(pool)
        print(run.__name__, "done", flush=True)
    for each in workers:
        await each.close()
    for task in working:
        task.cancel()
    await asyncio.gather(*working, return_exceptions=True)
    await pool.aclose()


asyncio.run(main())
