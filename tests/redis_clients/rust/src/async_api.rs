//! The asynchronous API of redis-rs, on tokio: connections that tasks share, and a connection
//! manager, which reconnects.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use redis::aio::{ConnectionLike, ConnectionManager, MultiplexedConnection};
use redis::streams::{StreamPendingReply, StreamReadOptions, StreamReadReply};
use redis::{
    cmd, pipe, AsyncCommands, AsyncIter, Client, Cmd, ErrorKind, FromRedisValue, InfoDict,
    RedisError, RedisResult, Script, Value,
};
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use crate::async_messages::messages;
use crate::want;

pub(crate) const TASKS: usize = 50;
pub(crate) const ROUNDS: usize = 30;
const MANAGED_TASKS: usize = 20; // fewer than the 50 requests that a connection's queue holds
const ELEMENTS: i64 = 1000; // more than one reply of a SCAN command has
const WORKERS: usize = 3;
const JOBS: i64 = 30;
const STOP: i64 = -1; // the job that ends a worker
const KILLS: usize = 5;
const PATIENCE: Duration = Duration::from_secs(60); // for one part that hangs

/// Ends the program unless `result` is an error with the wanted code and detail.
fn want_error<T: Debug>(subject: &str, result: RedisResult<T>, code: &str, detail: &str) {
    let error = match result {
        Err(error) => error,
        Ok(value) => panic!("redis-rs: {subject}: got {value:?}, wanted the error {code} {detail}"),
    };
    assert_eq!((error.code(), error.detail()), (Some(code), Some(detail)), "redis-rs: {subject}");
}

pub(crate) async fn client_id<C: ConnectionLike>(connection: &mut C) -> RedisResult<i64> {
    cmd("CLIENT").arg("ID").query_async(connection).await
}

pub(crate) async fn kill<C: ConnectionLike>(connection: &mut C, id: i64) -> RedisResult<i64> {
    cmd("CLIENT").arg("KILL").arg("ID").arg(id).query_async(connection).await
}

/// Returns the results of all tasks. A task that fails ends the program.
pub(crate) async fn results<T: 'static>(mut tasks: JoinSet<RedisResult<T>>) -> RedisResult<Vec<T>> {
    let mut values = Vec::new();
    while let Some(result) = tasks.join_next().await {
        values.push(result.expect("a task that ends without a panic")?);
    }
    Ok(values)
}

/// Uses the connection that all tasks share. Returns the values of the counter of all tasks.
async fn shared_rounds(
    mut connection: MultiplexedConnection,
    id: i64,
    number: usize,
) -> RedisResult<Vec<usize>> {
    let key = format!("task:{number}");
    let mut counts = Vec::new();
    for round in 0..ROUNDS {
        let value = format!("{number}.{round} ").repeat(1 + number * round % 300);
        want("a task's SET", connection.set(&key, &value).await, "OK".to_string());
        want("a task's GET", connection.get(&key).await, value);
        counts.push(connection.incr("count", 1).await?);
        want_error(
            "a task's LPUSH to a string",
            connection.lpush::<_, _, i64>(&key, round).await,
            "WRONGTYPE",
            "Operation against a key holding the wrong kind of value",
        );
        want("a task's GET of nothing", connection.get("none").await, None::<String>);
        want("a task's CLIENT ID", client_id(&mut connection).await, id);
    }
    Ok(counts)
}

async fn shared_connection(client: &Client) -> RedisResult<()> {
    let mut connection = client.get_multiplexed_tokio_connection().await?;
    let id = client_id(&mut connection).await?;
    let mut tasks = JoinSet::new();
    for number in 0..TASKS {
        tasks.spawn(shared_rounds(connection.clone(), id, number));
    }
    let counts: BTreeSet<usize> = results(tasks).await?.into_iter().flatten().collect();
    assert_eq!(counts, (1..=TASKS * ROUNDS).collect(), "redis-rs: INCR by all tasks");
    Ok(())
}

/// Appends pairs to a list that other connections append to as well.
async fn push_pairs(mut connection: MultiplexedConnection, number: usize) -> RedisResult<()> {
    for _ in 0..ROUNDS {
        let (first, second): (i64, i64) = pipe()
            .atomic()
            .rpush("pairs", number)
            .rpush("pairs", number)
            .query_async(&mut connection)
            .await?;
        assert_eq!(second, first + 1, "redis-rs: RPUSH twice in a transaction");
    }
    Ok(())
}

async fn pipelines(client: &Client) -> RedisResult<()> {
    let mut connection = client.get_multiplexed_async_connection().await?;
    want(
        "a pipeline",
        pipe().set("a", 1).ignore().incr("a", 1).get("a").query_async(&mut connection).await,
        (2, "2".to_string()),
    );
    let not_an_integer = "value is not an integer or out of range";
    want_error(
        "a pipeline with an error",
        pipe()
            .set("text", "x")
            .incr("text", 1)
            .incr("after", 1)
            .query_async::<_, Value>(&mut connection)
            .await,
        "ERR",
        not_an_integer,
    );
    want("GET after an error in a pipeline", connection.get("after").await, 1);

    want(
        "an atomic pipeline",
        pipe()
            .atomic()
            .set("a", 10)
            .ignore()
            .incr("a", 1)
            .get("none")
            .lrange("none", 0, -1)
            .query_async(&mut connection)
            .await,
        (11, None::<String>, Vec::<String>::new()),
    );
    want_error(
        "a transaction with an error",
        pipe()
            .atomic()
            .incr("after", 1)
            .incr("text", 1) // last: redis-rs does not parse what follows an error in an array
            .query_async::<_, Value>(&mut connection)
            .await,
        "ERR",
        not_an_integer,
    );
    want("GET after an error in a transaction", connection.get("after").await, 2);
    want_error(
        "a transaction with an error before EXEC",
        pipe().atomic().set("unset", 1).cmd("GET").query_async::<_, Value>(&mut connection).await,
        "ERR",
        "wrong number of arguments for 'get' command",
    );
    want("EXISTS after EXECABORT", connection.exists("unset").await, false);

    let other = client.get_multiplexed_async_connection().await?;
    let mut tasks = JoinSet::new();
    for number in 0..TASKS {
        let half = if number % 2 == 0 { &connection } else { &other };
        tasks.spawn(push_pairs(half.clone(), number));
    }
    results(tasks).await?;
    let pairs: Vec<usize> = connection.lrange("pairs", 0, -1).await?;
    assert_eq!(pairs.len(), 2 * TASKS * ROUNDS, "redis-rs: LRANGE of pairs");
    assert!(pairs.chunks(2).all(|pair| pair[0] == pair[1]), "redis-rs: pairs: {pairs:?}");

    let mut watcher = client.get_async_connection().await?;
    let mut transaction = pipe();
    transaction.atomic().incr("a", 1);
    want("WATCH", cmd("WATCH").arg("a").query_async(&mut watcher).await, "OK".to_string());
    want("SET of a watched key", connection.set("a", 20).await, "OK".to_string());
    want("EXEC after a change", transaction.query_async(&mut watcher).await, None::<(i64,)>);
    want("WATCH again", cmd("WATCH").arg("a").query_async(&mut watcher).await, "OK".to_string());
    want("EXEC without a change", transaction.query_async(&mut watcher).await, Some((21,)));
    Ok(())
}

/// Returns what the iterator yields, without what it yields again.
async fn elements<T: FromRedisValue + Ord + Send + Unpin>(
    mut iterator: AsyncIter<'_, T>,
) -> BTreeSet<T> {
    let mut elements = BTreeSet::new();
    while let Some(element) = iterator.next_item().await {
        elements.insert(element);
    }
    elements
}

async fn scans(client: &Client) -> RedisResult<()> {
    let mut connection = client.get_multiplexed_async_connection().await?;
    let mut filling = pipe();
    for number in 0..ELEMENTS {
        filling.set(format!("scan:{number}"), number).ignore();
        filling.sadd("scanned set", number).ignore();
        filling.hset("scanned hash", number, 2 * number).ignore();
        filling.zadd("scanned zset", number, number).ignore();
    }
    filling.query_async(&mut connection).await?;

    let numbers: BTreeSet<i64> = (0..ELEMENTS).collect();
    let names: BTreeSet<String> = numbers.iter().map(|number| format!("scan:{number}")).collect();
    let found = elements(connection.scan_match::<_, String>("scan:*").await?).await;
    assert_eq!(found, names, "redis-rs: SCAN MATCH");
    let all = elements(connection.scan::<String>().await?).await;
    assert!(all.is_superset(&names) && all.contains("scanned set"), "redis-rs: SCAN: {all:?}");
    let mut typed = cmd("SCAN");
    typed.cursor_arg(0).arg("COUNT").arg(7).arg("TYPE").arg("zset");
    let found: BTreeSet<String> = elements(typed.iter_async(&mut connection).await?).await;
    assert_eq!(found, BTreeSet::from(["scanned zset".to_string()]), "redis-rs: SCAN TYPE");

    let found: BTreeSet<i64> = elements(connection.sscan("scanned set").await?).await;
    assert_eq!(found, numbers, "redis-rs: SSCAN");
    let found: BTreeSet<i64> = elements(connection.sscan_match("scanned set", "99?").await?).await;
    assert_eq!(found, (990..1000).collect(), "redis-rs: SSCAN MATCH");
    let found: BTreeSet<(i64, i64)> = elements(connection.hscan("scanned hash").await?).await;
    let pairs = numbers.iter().map(|&number| (number, 2 * number));
    assert_eq!(found, pairs.collect(), "redis-rs: HSCAN");
    let found: BTreeSet<(String, i64)> = elements(connection.zscan("scanned zset").await?).await;
    let pairs = numbers.iter().map(|&number| (number.to_string(), number));
    assert_eq!(found, pairs.collect(), "redis-rs: ZSCAN");
    let found: BTreeSet<i64> = elements(connection.sscan("none").await?).await;
    assert_eq!(found, BTreeSet::new(), "redis-rs: SSCAN of nothing");
    Ok(())
}

async fn scripts(client: &Client) -> RedisResult<()> {
    let mut connection = client.get_multiplexed_async_connection().await?;
    let script = Arc::new(Script::new(
        "redis.call('SET', KEYS[1], ARGV[1]); return {redis.call('GET', KEYS[1]), #ARGV}",
    ));
    let mut exists = cmd("SCRIPT");
    exists.arg("EXISTS").arg(script.get_hash());
    let flush =
        [cmd("SCRIPT").arg("FLUSH").clone(), cmd("SCRIPT").arg("FLUSH").arg("SYNC").clone()];
    for flush in flush {
        want("SCRIPT FLUSH", flush.query_async(&mut connection).await, "OK".to_string());
        want("SCRIPT EXISTS", exists.query_async(&mut connection).await, (false,));
        let failed: RedisResult<Value> =
            cmd("EVALSHA").arg(script.get_hash()).arg(0).query_async(&mut connection).await;
        let kind = failed.as_ref().map_err(RedisError::kind);
        assert_eq!(kind, Err(ErrorKind::NoScriptError), "redis-rs: EVALSHA after SCRIPT FLUSH");
        let mut tasks = JoinSet::new();
        for number in 0..TASKS {
            let (mut connection, script) = (connection.clone(), Arc::clone(&script));
            tasks.spawn(async move {
                let key = format!("script:{number}");
                want(
                    "a task's EVALSHA",
                    script.key(key).arg(number).arg("x").invoke_async(&mut connection).await,
                    (number, 2),
                );
                Ok(())
            });
        }
        results(tasks).await?;
        want("SCRIPT EXISTS after EVALSHA", exists.query_async(&mut connection).await, (true,));
    }
    want("what a script has SET", connection.get("script:7").await, 7);

    let loaded = Script::new("return redis.error_reply('MINE is wrong')");
    let hash = loaded.prepare_invoke().load_async(&mut connection).await?;
    assert_eq!(hash, loaded.get_hash(), "redis-rs: SCRIPT LOAD");
    let failed: RedisResult<Value> = loaded.invoke_async(&mut connection).await;
    want_error("a script's error", failed, "MINE", "is wrong");
    let nothing = Script::new("return false");
    want("a script's null", nothing.invoke_async(&mut connection).await, Value::Nil);
    Ok(())
}

async fn wait_until_blocked(
    connection: &mut MultiplexedConnection,
    clients: usize,
) -> RedisResult<()> {
    loop {
        let figures: InfoDict = cmd("INFO").arg("clients").query_async(connection).await?;
        if figures.get("blocked_clients") == Some(clients) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Reads and acknowledges a group's jobs, one at a time, until one ends it. Returns the others.
async fn work(client: Client, number: usize) -> RedisResult<Vec<i64>> {
    let mut connection = client.get_async_connection().await?;
    let options =
        StreamReadOptions::default().group("group", format!("worker {number}")).count(1).block(0);
    let mut jobs = Vec::new();
    loop {
        let reply: StreamReadReply = connection.xread_options(&["jobs"], &[">"], &options).await?;
        let entry = &reply.keys[0].ids[0];
        let job = entry.get("job").expect("a job's number");
        want("XACK", connection.xack("jobs", "group", &[&entry.id]).await, 1);
        if job == STOP {
            return Ok(jobs);
        }
        jobs.push(job);
    }
}

async fn streams(client: &Client) -> RedisResult<()> {
    let mut writer = client.get_multiplexed_async_connection().await?;
    // A command that blocks would hold up a connection that is shared.
    let mut reader = client.get_async_connection().await?;
    want("XADD", writer.xadd("stream", "5-1", &[("f", "1")]).await, "5-1".to_string());
    let options = StreamReadOptions::default().block(10);
    want(
        "XREAD BLOCK in vain",
        reader.xread_options(&["stream"], &["5-1"], &options).await,
        Value::Nil,
    );
    let reading = tokio::spawn(async move {
        let options = StreamReadOptions::default().block(0).count(10);
        reader.xread_options(&["stream", "other"], &["$", "$"], &options).await
    });
    wait_until_blocked(&mut writer, 1).await?;
    assert!(!reading.is_finished(), "redis-rs: XREAD BLOCK ended without an entry");
    let fields = [("f", "2"), ("g", "3")];
    want("XADD", writer.xadd("other", "6-1", &fields).await, "6-1".to_string());
    let reply: StreamReadReply = reading.await.expect("a reader that ends without a panic")?;
    assert_eq!((reply.keys.len(), reply.keys[0].ids.len()), (1, 1), "redis-rs: {reply:?}");
    let entry = &reply.keys[0].ids[0];
    assert_eq!(
        (reply.keys[0].key.as_str(), entry.id.as_str(), entry.get("f"), entry.get("g")),
        ("other", "6-1", Some(2), Some(3)),
        "redis-rs: XREAD BLOCK"
    );

    let created = writer.xgroup_create_mkstream("jobs", "group", "$").await;
    want("XGROUP CREATE MKSTREAM", created, "OK".to_string());
    let mut workers = JoinSet::new();
    for number in 0..WORKERS {
        workers.spawn(work(client.clone(), number));
    }
    wait_until_blocked(&mut writer, WORKERS).await?;
    for job in (0..JOBS).chain([STOP; WORKERS]) {
        writer.xadd("jobs", "*", &[("job", job)]).await?;
    }
    let mut jobs: Vec<i64> = results(workers).await?.into_iter().flatten().collect();
    jobs.sort();
    assert_eq!(jobs, (0..JOBS).collect::<Vec<_>>(), "redis-rs: XREADGROUP BLOCK");
    let pending: StreamPendingReply = writer.xpending("jobs", "group").await?;
    assert_eq!(pending.count(), 0, "redis-rs: XPENDING");
    want("XLEN", writer.xlen("jobs").await, JOBS as usize + WORKERS);
    Ok(())
}

/// Runs a command, and repeats it while its connection is lost. Counts the losses.
async fn persist<T: FromRedisValue>(
    command: &Cmd,
    manager: &mut ConnectionManager,
    losses: &AtomicUsize,
) -> RedisResult<T> {
    loop {
        match command.query_async(manager).await {
            Err(error) if error.is_connection_dropped() => losses.fetch_add(1, Ordering::SeqCst),
            result => return result,
        };
    }
}

async fn managed_connection(client: &Client) -> RedisResult<()> {
    let mut operator = client.get_multiplexed_async_connection().await?;
    let mut manager = client.get_tokio_connection_manager().await?;
    want("SET before CLIENT KILL", manager.set("managed", "x").await, "OK".to_string());
    for _ in 0..KILLS {
        let id = client_id(&mut manager).await?;
        want("CLIENT KILL", kill(&mut operator, id).await, 1);
        let lost = client_id(&mut manager).await;
        let is_dropped = matches!(&lost, Err(error) if error.is_connection_dropped());
        assert!(is_dropped, "redis-rs: CLIENT ID of a killed client: {lost:?}");
        want("GET after CLIENT KILL", manager.get("managed").await, "x".to_string());
        assert_ne!(client_id(&mut manager).await?, id, "redis-rs: CLIENT ID after CLIENT KILL");
    }

    let losses = Arc::new(AtomicUsize::new(0));
    let is_last = Arc::new(AtomicBool::new(false));
    let mut tasks = JoinSet::new();
    for number in 0..MANAGED_TASKS {
        let mut manager = manager.clone();
        let (losses, is_last) = (Arc::clone(&losses), Arc::clone(&is_last));
        tasks.spawn(async move {
            let key = format!("managed:{number}");
            for round in 0.. {
                let is_last = is_last.load(Ordering::SeqCst);
                let value = format!("{number}.{round}");
                let set = Cmd::set(&key, &value);
                want("SET", persist(&set, &mut manager, &losses).await, "OK".to_string());
                want("GET", persist(&Cmd::get(&key), &mut manager, &losses).await, value);
                if is_last {
                    break;
                }
            }
            Ok(())
        });
    }
    let mut ids = BTreeSet::new();
    for _ in 0..KILLS {
        let id = persist(cmd("CLIENT").arg("ID"), &mut manager, &losses).await?;
        want("CLIENT KILL while tasks run", kill(&mut operator, id).await, 1);
        ids.insert(id);
    }
    is_last.store(true, Ordering::SeqCst);
    results(tasks).await?;
    assert_eq!(ids.len(), KILLS, "redis-rs: a new connection after each CLIENT KILL");
    let losses = losses.load(Ordering::SeqCst);
    assert!(losses >= KILLS, "redis-rs: {losses} losses after {KILLS} of CLIENT KILL");
    Ok(())
}

/// Ends the program if a part fails, or if a command in it is never answered.
async fn run_part(name: &str, part: impl Future<Output = RedisResult<()>>) {
    match tokio::time::timeout(PATIENCE, part).await {
        Ok(result) => result.unwrap_or_else(|error| panic!("redis-rs: {name}: {error:?}")),
        Err(_) => panic!("redis-rs: {name}: no end within {PATIENCE:?}"),
    }
}

pub fn run(host: &str, port: &str) -> RedisResult<()> {
    // Not database 0: each connection, and each that replaces it, has to select the database.
    let client = Client::open(format!("redis://{host}:{port}/1"))?;
    Builder::new_multi_thread().worker_threads(4).enable_all().build()?.block_on(async {
        run_part("a shared connection", shared_connection(&client)).await;
        run_part("pipelines", pipelines(&client)).await;
        run_part("Pub/Sub", messages(&client)).await;
        run_part("scans", scans(&client)).await;
        run_part("scripts", scripts(&client)).await;
        run_part("streams", streams(&client)).await;
    });
    // With several threads, a request that enters the queue of a connection while the connection
    // ends stays without a result, with any server: https://github.com/tokio-rs/tokio/issues/7714.
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        run_part("a connection manager", managed_connection(&client)).await;
    });
    Ok(())
}
