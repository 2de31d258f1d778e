"""The jobs of worker_processes.py, which its client and the workers' own processes load."""

import os
import time

import celery
import redis
from checks import PATIENCE

URL = os.environ.get("REDIS_URL")  # in the workers' processes
app = celery.Celery("jobs")
app.conf.update(
    broker_url=URL,
    result_backend=URL,
    broker_connection_retry_on_startup=True,
    # What a lost worker had is looked for every second, not every hundred.
    broker_transport_options={"visibility_timeout": 5, "unacked_restore_interval": 1,
                              "unacked_restore_throttle": 1},
    task_acks_late=True,
    task_track_started=True,
    worker_prefetch_multiplier=1,
    beat_schedule={"tick": {"task": "tick", "schedule": 0.3}},
)


def hold_until(key, gate):
    """Says at `key` who holds it, and waits for a push at `gate`."""
    client = redis.Redis.from_url(URL, socket_timeout=None)
    client.rpush(key, os.getpid())
    if client.blpop(gate, timeout=PATIENCE) is None:
        raise TimeoutError(gate)
    return os.getpid()


@app.task(name="add")
def add(first, second):
    return first + second


@app.task(name="tick")
def tick():
    redis.Redis.from_url(URL).incr("ticks")


@app.task(name="hold")
def hold(key, gate):
    return hold_until(key, gate)


@app.task(name="sleep")
def sleep():
    time.sleep(2 * PATIENCE)
