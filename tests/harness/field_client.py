"""Debian's redis-py with the commands on hash fields that expire, which it does not know yet."""

import redis as redis_py

FAR = 4_000_000_000_000  # milliseconds since 1970


class Client(redis_py.Redis):
    """Debian's redis-py, with the commands of Redis 7.4 and 8.0 that it does not know yet."""

    def on_fields(self, command, key, options, fields):
        return self.execute_command(command, key, *options, "FIELDS", len(fields), *fields)

    def hexpire(self, key, seconds, *fields):
        return self.on_fields("HEXPIRE", key, [seconds], fields)

    def hpexpire(self, key, ms, *fields):
        return self.on_fields("HPEXPIRE", key, [ms], fields)

    def hexpireat(self, key, seconds, *fields):
        return self.on_fields("HEXPIREAT", key, [seconds], fields)

    def hpexpireat(self, key, ms, *fields):
        return self.on_fields("HPEXPIREAT", key, [ms], fields)

    def httl(self, key, *fields):
        return self.on_fields("HTTL", key, [], fields)

    def hpttl(self, key, *fields):
        return self.on_fields("HPTTL", key, [], fields)

    def hexpiretime(self, key, *fields):
        return self.on_fields("HEXPIRETIME", key, [], fields)

    def hpexpiretime(self, key, *fields):
        return self.on_fields("HPEXPIRETIME", key, [], fields)

    def hpersist(self, key, *fields):
        return self.on_fields("HPERSIST", key, [], fields)

    def hgetdel(self, key, *fields):
        return self.on_fields("HGETDEL", key, [], fields)

    def hgetex(self, key, *fields, options=()):
        return self.on_fields("HGETEX", key, options, fields)


def client_of(port):
    return Client(port=port, decode_responses=True)


def fill(client, key, size):
    client.hset(key, mapping={f"f{i}": f"v{i}" for i in range(size)})
