//! Pub/Sub messages as a stream, in the asynchronous API of redis-rs.

use std::collections::BTreeMap;

use futures_util::{Stream, StreamExt};
use redis::{AsyncCommands, Client, Msg, RedisResult};
use tokio::task::JoinSet;

use crate::async_api::{client_id, kill, results, ROUNDS, TASKS};
use crate::want;

/// Ends the program unless the stream's next message has this channel, pattern and payload.
async fn want_message<S: Stream<Item = Msg> + Unpin>(
    stream: &mut S,
    channel: &str,
    pattern: Option<&str>,
    payload: &[u8],
) {
    let message = stream.next().await.expect("a message before the stream ends");
    let seen_pattern: Option<String> = message.get_pattern().expect("a pattern or nothing");
    assert_eq!(
        (message.get_channel_name(), seen_pattern.as_deref(), message.get_payload_bytes()),
        (channel, pattern, payload),
        "redis-rs: a message"
    );
}

pub(crate) async fn messages(client: &Client) -> RedisResult<()> {
    let mut publisher = client.get_multiplexed_async_connection().await?;
    let mut subscriber = client.get_async_connection().await?;
    want("SET before SUBSCRIBE", subscriber.set("kept", 1).await, "OK".to_string());
    let mut pubsub = subscriber.into_pubsub();
    pubsub.subscribe("news").await?;
    pubsub.psubscribe("weather.*").await?;
    let bytes: Vec<u8> = (0..=255).collect();
    want("PUBLISH", publisher.publish("news", "one").await, 1);
    want("PUBLISH to a pattern", publisher.publish("weather.today", "rain").await, 1);
    want("PUBLISH of all bytes", publisher.publish("news", &bytes[..]).await, 1);
    want("PUBLISH to nobody", publisher.publish("weather", "none").await, 0);
    {
        let mut stream = pubsub.on_message();
        want_message(&mut stream, "news", None, b"one").await;
        want_message(&mut stream, "weather.today", Some("weather.*"), b"rain").await;
        want_message(&mut stream, "news", None, &bytes).await;
    }

    pubsub.unsubscribe("news").await?;
    want("PUBLISH after UNSUBSCRIBE", publisher.publish("news", "two").await, 0);
    want("PUBLISH to what is left", publisher.publish("weather.now", "sun").await, 1);
    want_message(&mut pubsub.on_message(), "weather.now", Some("weather.*"), b"sun").await;
    pubsub.punsubscribe("weather.*").await?;
    want("PUBLISH after PUNSUBSCRIBE", publisher.publish("weather.now", "fog").await, 0);
    pubsub.subscribe("news").await?;
    want("PUBLISH after SUBSCRIBE again", publisher.publish("news", "three").await, 1);
    want_message(&mut pubsub.on_message(), "news", None, b"three").await;
    let mut subscriber = pubsub.into_connection().await;
    want("PUBLISH after the end of Pub/Sub", publisher.publish("news", "four").await, 0);
    want("GET after the end of Pub/Sub", subscriber.get("kept").await, 1);

    let id = client_id(&mut subscriber).await?;
    let mut pubsub = subscriber.into_pubsub();
    pubsub.psubscribe("task.*").await?;
    let mut stream = pubsub.into_on_message();
    let mut tasks = JoinSet::new();
    for number in 0..TASKS {
        let mut publisher = publisher.clone();
        tasks.spawn(async move {
            for round in 0..ROUNDS {
                let channel = format!("task.{number}");
                want("a task's PUBLISH", publisher.publish(channel, round).await, 1);
            }
            Ok(())
        });
    }
    let mut rounds: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for _ in 0..TASKS * ROUNDS {
        let message = stream.next().await.expect("a message of a task");
        let round = message.get_payload()?;
        rounds.entry(message.get_channel_name().to_string()).or_default().push(round);
    }
    results(tasks).await?;
    let wanted = (0..TASKS).map(|number| (format!("task.{number}"), (0..ROUNDS).collect()));
    assert_eq!(rounds, wanted.collect(), "redis-rs: messages of all tasks");

    want("CLIENT KILL of a subscriber", kill(&mut publisher, id).await, 1);
    assert!(stream.next().await.is_none(), "redis-rs: the end of a killed subscriber's stream");
    want("PUBLISH to a killed subscriber", publisher.publish("task.0", "").await, 0);
    Ok(())
}
