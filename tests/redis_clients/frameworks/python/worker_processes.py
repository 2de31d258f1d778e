"""Celery and RQ against a cache with workers as their users start them: processes of their own,
which are asked, stopped and killed."""

import contextlib
import datetime
import operator
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import redis
import rq
import rq.command
import worker_jobs
from checks import PATIENCE, eventually, want
from worker_jobs import add, hold, sleep

CELERY_URL, RQ_URL = (f"redis://{sys.argv[1]}:{sys.argv[2]}/{number}" for number in range(2))


class Worker:
    """A process group, which ends with the block."""

    def __init__(self, url, *command):
        self._process = subprocess.Popen(
            [sys.executable, "-B", "-m", *command], cwd=Path(__file__).parent,
            start_new_session=True, env={**os.environ, "REDIS_URL": url}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @property
    def number(self):
        """Of the process group."""
        return self._process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self):
        self._process.terminate()
        return self.wait()

    def wait(self):
        """Returns the exit status."""
        return self._process.wait(PATIENCE)


# --- Celery

def celery_worker(name):
    return Worker(CELERY_URL, "celery", "-A", "worker_jobs", "worker", "-n", f"{name}@here", "-c",
                  "2")


def names_of(replies):
    return sorted(name.split("@")[0] for reply in replies for name in reply)


def run_celery(client):
    app = worker_jobs.app
    with celery_worker("one") as one, celery_worker("two") as two:
        eventually("Celery's workers answer a ping",
                   lambda: names_of(app.control.ping(timeout=1)) == ["one", "two"])
        results = [add.delay(each, 1) for each in range(50)]
        want("Celery's tasks", [each.get(timeout=PATIENCE) for each in results],
             list(range(1, 51)))
        run_control(app, client)
        run_loss(client, [one, two])
    want("Celery's queue", client.llen("celery"), 0)


def run_control(app, client):
    """A task is seen at work and revoked by way of the workers' channels."""
    sleeping = sleep.delay()

    def is_at_work():
        active = app.control.inspect(timeout=1).active() or {}
        return [each["id"] for tasks in active.values() for each in tasks] == [sleeping.id]

    eventually("Celery's task is at work", is_at_work)
    eventually("Celery's task has started", lambda: sleeping.state == "STARTED")
    sleeping.revoke(terminate=True, signal="SIGKILL")
    eventually("Celery's task is revoked", lambda: sleeping.state == "REVOKED")
    with (tempfile.TemporaryDirectory() as folder,
          Worker(CELERY_URL, "celery", "-A", "worker_jobs", "beat", "-s", f"{folder}/beat",
                 "--pidfile=")):
        eventually("Celery's beat", lambda: int(client.get("ticks") or 0) >= 3)


def run_loss(client, workers):
    """A worker is killed with a task that it has not acknowledged: the other one gets it."""
    held = hold.delay("holders", "gate")
    first = int(client.blpop("holders", timeout=PATIENCE)[1])
    [lost] = [worker for worker in workers if worker.number == os.getpgid(first)]
    lost.kill()
    second = int(client.blpop("holders", timeout=PATIENCE)[1])
    client.rpush("gate", "go")
    want("Celery's task after a kill", held.get(timeout=PATIENCE), second)
    want("Celery's task is done by another process", first != second, True)
    eventually("Celery's acknowledgements", lambda: client.hlen("unacked") == 0)
    [left] = [worker for worker in workers if worker is not lost]
    want("Celery's end", left.stop(), 0)


# --- RQ

def rq_worker(name):
    return Worker(RQ_URL, "rq.cli", "worker", "--url", RQ_URL, "--name", name, "--with-scheduler",
                  "high", "low")


def idle_workers(client):
    return [worker.name for worker in rq.Worker.all(connection=client)
            if worker.get_state() == rq.worker.WorkerStatus.IDLE]


def run_rq(client):
    high, low = (rq.Queue(name, connection=client) for name in ("high", "low"))
    with rq_worker("ann") as ann:
        jobs = [low.enqueue(operator.add, each, 1) for each in range(10)]
        last = high.enqueue(operator.mul, 6, 7, depends_on=jobs)
        eventually("RQ's job that waits for others", lambda: last.return_value() == 42)
        soon = low.enqueue_in(datetime.timedelta(seconds=1), operator.add, 20, 1)
        eventually("RQ's scheduled job", lambda: soon.return_value() == 21)
        again = high.enqueue(operator.truediv, 1, 0, retry=rq.Retry(max=2))
        eventually("RQ's job that fails three times",
                   lambda: again.get_status() == rq.job.JobStatus.FAILED)
        again.refresh()
        want("RQ's tries that are left", again.retries_left, 0)
        held = high.enqueue(worker_jobs.hold_until, "holders", "gate")
        client.blpop("holders", timeout=PATIENCE)
        [worker] = rq.Worker.all(connection=client)
        want("RQ's worker", (worker.name, worker.get_current_job_id()), ("ann", held.id))
        rq.command.send_stop_job_command(client, held.id)
        eventually("RQ's job is stopped",
                   lambda: held.get_status(refresh=True) == rq.job.JobStatus.STOPPED)
        lost = high.enqueue(worker_jobs.hold_until, "holders", "gate")
        horse = int(client.blpop("holders", timeout=PATIENCE)[1])
        ann.kill()
        os.kill(horse, signal.SIGKILL)  # it is in a session of its own
    run_rq_cleanup(client, high, lost)


def run_rq_cleanup(client, queue, lost):
    """The registry of started jobs gives up a job whose worker was killed."""
    registry = rq.registry.StartedJobRegistry(queue=queue)
    want("RQ's started jobs", registry.get_job_ids(cleanup=False), [lost.id])
    registry.cleanup(timestamp=time.time() + 1000)
    want("RQ's lost job", lost.get_status(refresh=True), rq.job.JobStatus.FAILED)
    with rq_worker("bob") as bob:
        lost.requeue()
        client.blpop("holders", timeout=PATIENCE)
        client.rpush("gate", "go")
        eventually("RQ's job that is tried again",
                   lambda: lost.return_value(refresh=True) is not None)
        eventually("RQ's worker is idle", lambda: idle_workers(client) == ["bob"])
        rq.command.send_shutdown_command(client, "bob")
        want("RQ's end", bob.wait(), 0)
    # The killed one is only known to be gone when its key expires.
    names = [worker.name for worker in rq.Worker.all(connection=client)]
    want("RQ's workers", names, ["ann"])


worker_jobs.app.conf.update(broker_url=CELERY_URL, result_backend=CELERY_URL)
for url, run in ((CELERY_URL, run_celery), (RQ_URL, run_rq)):
    run(redis.Redis.from_url(url, socket_timeout=None))
    print(run.__name__, "done", flush=True)
