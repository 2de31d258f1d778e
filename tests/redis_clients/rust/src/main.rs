//! redis-rs against a cache, with its defaults: RESP2, over one blocking connection, then over the
//! connections of its asynchronous API.

mod async_api;
mod async_messages;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Debug;
use std::thread;

use redis::geo::{Coord, RadiusOptions, RadiusSearchResult, Unit};
use redis::streams::{StreamMaxlen, StreamReadOptions, StreamReadReply};
use redis::{Client, Commands, Connection, ErrorKind, PubSubCommands, RedisResult, Script, Value};

/// Ends the program unless a command's result is the wanted one.
fn want<T: PartialEq + Debug>(subject: &str, result: RedisResult<T>, wanted: T) {
    match result {
        Ok(value) if value == wanted => (),
        other => panic!("redis-rs: {subject}: got {other:?}, wanted {wanted:?}"),
    }
}

fn strings(connection: &mut Connection) -> RedisResult<()> {
    want("SET", connection.set("s", "1"), "OK".to_string());
    want("GET", connection.get("s"), Some(1));
    want("GET of nothing", connection.get("none"), None::<String>);
    want("INCRBY", connection.incr("s", 41), 42);
    want("INCRBYFLOAT", connection.incr("f", 1.5), 1.5);
    want("SETNX of a key that is there", connection.set_nx("s", "2"), false);
    want("MGET", connection.get(&["s", "none"]), vec![Some(42), None]);
    want("SETBIT", connection.setbit("b", 7, true), false);
    want("BITCOUNT", connection.bitcount("b"), 1);
    let bytes: Vec<u8> = (0..=255).collect();
    want("SET of all bytes", connection.set("bytes", &bytes[..]), ());
    want("GET of all bytes", connection.get("bytes"), bytes);
    want("EXPIRE", connection.expire("s", 100), true);
    let left: i64 = connection.ttl("s")?;
    assert!(left > 0 && left <= 100, "redis-rs: TTL: got {left}");
    let failed: RedisResult<i64> = connection.incr("bytes", 1);
    let error = failed.expect_err("INCR of a text");
    assert_eq!(error.kind(), ErrorKind::ResponseError);
    assert_eq!(error.detail(), Some("value is not an integer or out of range"));
    Ok(())
}

fn collections(connection: &mut Connection) -> RedisResult<()> {
    want("RPUSH", connection.rpush("l", &["a", "b", "c"]), 3);
    want(
        "LRANGE",
        connection.lrange("l", 0, -1),
        vec!["a", "b", "c"].iter().map(ToString::to_string).collect::<Vec<_>>(),
    );
    want("LPOP", connection.lpop("l", None), "a".to_string());
    want("SADD", connection.sadd("set", &["x", "y", "x"]), 2);
    want(
        "SMEMBERS",
        connection.smembers("set"),
        BTreeSet::from(["x".to_string(), "y".to_string()]),
    );
    want("HSET", connection.hset_multiple("h", &[("f", "1"), ("g", "2")]), ());
    want(
        "HGETALL",
        connection.hgetall("h"),
        BTreeMap::from([("f".to_string(), 1), ("g".to_string(), 2)]),
    );
    want("ZADD", connection.zadd_multiple("z", &[(1.5, "a"), (2.5, "b")]), 2);
    want(
        "ZRANGE WITHSCORES",
        connection.zrange_withscores("z", 0, -1),
        vec![("a".to_string(), 1.5), ("b".to_string(), 2.5)],
    );
    want("PFADD", connection.pfadd("log", &["a", "b"]), true);
    want("PFCOUNT", connection.pfcount("log"), 2);
    let mut found: Vec<String> = connection.scan_match::<_, String>("l*")?.collect();
    found.sort();
    assert_eq!(found, ["l", "log"], "redis-rs: SCAN");
    want("BRPOP", connection.brpop("l", 1), ("l".to_string(), "c".to_string()));
    want("GEOADD", connection.geo_add("places", (Coord::lon_lat(13.36, 38.11), "Palermo")), 1);
    let near: Vec<RadiusSearchResult> = connection.geo_radius(
        "places",
        13.3,
        38.1,
        10.0,
        Unit::Kilometers,
        RadiusOptions::default().with_dist(),
    )?;
    let names: Vec<&str> = near.iter().map(|place| place.name.as_str()).collect();
    assert_eq!(names, ["Palermo"], "redis-rs: GEORADIUS");
    Ok(())
}

fn streams(connection: &mut Connection) -> RedisResult<()> {
    want("XADD", connection.xadd("stream", "5-1", &[("f", "1")]), "5-1".to_string());
    want("XADD", connection.xadd("stream", "6-1", &[("f", "2")]), "6-1".to_string());
    want("XGROUP CREATE", connection.xgroup_create("stream", "group", "0"), ());
    let options = StreamReadOptions::default().group("group", "consumer").count(1);
    let read: StreamReadReply = connection.xread_options(&["stream"], &[">"], &options)?;
    let entry = &read.keys[0].ids[0];
    assert_eq!((entry.id.as_str(), entry.get("f")), ("5-1", Some(1)), "redis-rs: XREADGROUP");
    want("XACK", connection.xack("stream", "group", &["5-1"]), 1);
    want("XTRIM", connection.xtrim("stream", StreamMaxlen::Equals(1)), 1);
    want("XLEN", connection.xlen("stream"), 1);
    Ok(())
}

fn together(connection: &mut Connection) -> RedisResult<()> {
    want(
        "a pipeline",
        redis::pipe().set("a", 1).ignore().incr("a", 1).get("a").query(connection),
        (2, "2".to_string()),
    );
    let result: RedisResult<(i64,)> = redis::transaction(connection, &["a"], |inside, pipe| {
        let value: i64 = inside.get("a")?;
        pipe.set("a", value * 10).ignore().incr("a", 1).query(inside)
    });
    want("WATCH, MULTI, EXEC", result, (21,));
    let script = Script::new("return {redis.call('GET', KEYS[1]), ARGV[1]}");
    want(
        "EVALSHA after NOSCRIPT",
        script.key("a").arg("x").invoke(connection),
        ("21".to_string(), "x".to_string()),
    );
    let whoami: String = redis::cmd("ACL").arg("WHOAMI").query(connection)?;
    assert_eq!(whoami, "default");
    let figures: redis::InfoDict = redis::cmd("INFO").query(connection)?;
    assert_eq!(figures.get::<String>("role"), Some("master".to_string()));
    let settings: HashMap<String, String> =
        redis::cmd("CONFIG").arg("GET").arg("maxmemory*").query(connection)?;
    assert!(settings.contains_key("maxmemory"), "redis-rs: CONFIG GET: {settings:?}");
    want("SELECT", redis::cmd("SELECT").arg(3).query(connection), ());
    want("DBSIZE", redis::cmd("DBSIZE").query(connection), 0);
    want("a null", redis::cmd("GET").arg("none").query(connection), Value::Nil);
    Ok(())
}

fn messages(client: &Client) -> RedisResult<()> {
    let mut subscriber = client.get_connection()?;
    let mut publisher = client.get_connection()?;
    let sending = thread::spawn(move || -> RedisResult<()> {
        while publisher.publish::<_, _, i64>("news", "hello")? == 0 {
            thread::yield_now();
        }
        Ok(())
    });
    let heard = subscriber.subscribe(&["news"], |message| {
        let text: String = message.get_payload().expect("a text");
        redis::ControlFlow::Break((message.get_channel_name().to_string(), text))
    });
    want("a message", heard, ("news".to_string(), "hello".to_string()));
    sending.join().expect("the publisher")
}

fn main() -> RedisResult<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let client = Client::open(format!("redis://{}:{}/", arguments[1], arguments[2]))?;
    let mut connection = client.get_connection()?;
    strings(&mut connection)?;
    collections(&mut connection)?;
    streams(&mut connection)?;
    together(&mut connection)?;
    messages(&client)?;
    async_api::run(&arguments[1], &arguments[2])
}
