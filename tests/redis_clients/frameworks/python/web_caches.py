"""Django's cache, sessions and locks, Flask-Caching, and limits against a cache, with their
defaults."""

import sys
import time

import django
import flask
import flask_caching
import limits
import limits.storage
import limits.strategies
from checks import want
from django.conf import settings

URL = f"redis://{sys.argv[1]}:{sys.argv[2]}/0"


def run_django():
    settings.configure(
        CACHES={"default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": URL},
                "own": {"BACKEND": "django.core.cache.backends.redis.RedisCache",
                        "LOCATION": URL}},
        SESSION_ENGINE="django.contrib.sessions.backends.cache", USE_TZ=True)
    django.setup()
    from django.contrib.sessions.backends.cache import SessionStore
    from django.core.cache import caches

    for name in ("default", "own"):
        cache = caches[name]
        cache.set("key", {"a": [1, 2]}, timeout=100)
        want(f"{name}: get", cache.get("key"), {"a": [1, 2]})
        want(f"{name}: add of a key that is there", cache.add("key", 1), False)
        cache.set_many({f"k{each}": each for each in range(5)})
        want(f"{name}: get_many", cache.get_many(["k1", "k4", "no"]), {"k1": 1, "k4": 4})
        want(f"{name}: incr", cache.incr("k1", 10), 11)
        want(f"{name}: touch", cache.touch("k1", 50), True)
        want(f"{name}: delete", cache.delete("k1"), True)
    cache = caches["default"]
    want("django-redis: ttl", 0 < cache.ttl("key") <= 100, True)
    with cache.lock("lock", timeout=10):
        want("django-redis: keys", "lock" in cache.keys("*"), True)
    want("django-redis: lock is released", "lock" in cache.keys("*"), False)
    want("django-redis: delete_pattern", cache.delete_pattern("k?"), 4)
    session = SessionStore()
    session["user"] = 7
    session.save()
    want("Django's session", SessionStore(session.session_key)["user"], 7)


def run_flask():
    app = flask.Flask("app")
    cache = flask_caching.Cache(app, config={"CACHE_TYPE": "RedisCache", "CACHE_REDIS_URL": URL})
    calls = []

    @app.route("/")
    @cache.cached(timeout=50)
    def page():
        calls.append(1)
        return "page"

    @cache.memoize(50)
    def square(number):
        calls.append(number)
        return number * number

    client = app.test_client()
    want("a cached page", [client.get("/").data for _ in range(3)], [b"page"] * 3)
    with app.app_context():
        want("a memoized function", [square(3), square(3), square(4)], [9, 9, 16])
        cache.delete_memoized(square)
        want("one that was forgotten", square(3), 9)
    want("calls", calls, [1, 3, 4, 3])


def run_limits():
    storage = limits.storage.storage_from_string(URL)
    rate = limits.parse("5/minute")
    for kind in (limits.strategies.FixedWindowRateLimiter,
                 limits.strategies.MovingWindowRateLimiter,
                 limits.strategies.SlidingWindowCounterRateLimiter):
        limiter = kind(storage)
        hits = [limiter.hit(rate, kind.__name__, "user") for _ in range(7)]
        want(kind.__name__, hits, [True] * 5 + [False] * 2)
        window = limiter.get_window_stats(rate, kind.__name__, "user")
        want(f"{kind.__name__}: what is left", window.remaining, 0)
        want(f"{kind.__name__}: its end", window.reset_time >= time.time() - 1, True)


for run in (run_django, run_flask, run_limits):
    run()
    print(run.__name__, "done", flush=True)
