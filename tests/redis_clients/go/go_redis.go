// go-redis against a cache, with its defaults: RESP3.
package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"sort"
	"time"

	"github.com/redis/go-redis/v9"
)

var background, cancel = context.WithTimeout(context.Background(), 30*time.Second)

func fail(what string, got, wanted any) {
	fmt.Fprintf(os.Stderr, "go-redis: %s: got %#v, wanted %#v\n", what, got, wanted)
	os.Exit(1)
}

// want compares the result of a command, whatever its type, with what it has to be.
func want[T any](what string, result interface{ Result() (T, error) }, wanted T) {
	got, err := result.Result()
	if err != nil {
		fail(what, err.Error(), wanted)
	}
	same(what, got, wanted)
}

func same(what string, got, wanted any) {
	if !reflect.DeepEqual(got, wanted) {
		fail(what, got, wanted)
	}
}

func wantNil[T any](what string, result interface{ Result() (T, error) }) {
	if got, err := result.Result(); err != redis.Nil {
		fail(what, fmt.Sprint(got, err), "nil")
	}
}

func sorted(what string, result *redis.StringSliceCmd, wanted ...string) {
	got, err := result.Result()
	if err != nil {
		fail(what, err.Error(), wanted)
	}
	sort.Strings(got)
	same(what, got, wanted)
}

func stringsRound(client *redis.Client) {
	ctx := background
	want[string]("SET EX", client.Set(ctx, "s", "1", 100*time.Second), "OK")
	want[string]("GET", client.Get(ctx, "s"), "1")
	if ttl := client.TTL(ctx, "s").Val(); ttl <= 0 || ttl > 100*time.Second {
		fail("TTL", ttl, "up to 100 s")
	}
	want[bool]("SET NX of a key that is there", client.SetNX(ctx, "s", "2", 0), false)
	want[int64]("INCRBY", client.IncrBy(ctx, "s", 41), 42)
	want[float64]("INCRBYFLOAT", client.IncrByFloat(ctx, "f", 1.5), 1.5)
	want[[]any]("MGET", client.MGet(ctx, "s", "none"), []any{"42", nil})
	wantNil[string]("GET of nothing", client.Get(ctx, "none"))
	want[int64]("SETBIT", client.SetBit(ctx, "b", 7, 1), 0)
	want[int64]("BITCOUNT", client.BitCount(ctx, "b", nil), 1)
	want[int64]("BITOP", client.BitOpNot(ctx, "nb", "b"), 1)
	want[int64]("BITPOS", client.BitPos(ctx, "nb", 0), 7)
	if _, err := client.Incr(ctx, "nb").Result(); err == nil ||
		err.Error() != "ERR value is not an integer or out of range" {
		fail("INCR of a text", err, "an error")
	}
}

func listsRound(client *redis.Client) {
	ctx := background
	want[int64]("RPUSH", client.RPush(ctx, "l", "a", "b", "c"), 3)
	want[[]string]("LRANGE", client.LRange(ctx, "l", 0, -1), []string{"a", "b", "c"})
	want[string]("LPOP", client.LPop(ctx, "l"), "a")
	want[string]("LMOVE", client.LMove(ctx, "l", "other", "RIGHT", "LEFT"), "c")
	popped := make(chan *redis.StringSliceCmd)
	go func() { popped <- client.BLPop(ctx, 20*time.Second, "queue") }()
	want[int64]("RPUSH for who waits", client.RPush(ctx, "queue", "job"), 1)
	want[[]string]("BLPOP", <-popped, []string{"queue", "job"})
	wantNil[[]string]("BLPOP in vain", client.BLPop(ctx, time.Second, "queue"))
}

func setsAndHashesRound(client *redis.Client) {
	ctx := background
	want[int64]("SADD", client.SAdd(ctx, "t", "x", "y"), 2)
	sorted("SMEMBERS", client.SMembers(ctx, "t"), "x", "y")
	want[bool]("SISMEMBER", client.SIsMember(ctx, "t", "x"), true)
	want[int64]("SINTERCARD", client.SInterCard(ctx, 1, "t", "t"), 1)
	want[int64]("HSET", client.HSet(ctx, "h", "a", "1", "b", "2"), 2)
	both := map[string]string{"a": "1", "b": "2"}
	want[map[string]string]("HGETALL", client.HGetAll(ctx, "h"), both)
	want[int64]("HINCRBY", client.HIncrBy(ctx, "h", "a", 4), 5)
	want[[]any]("HMGET", client.HMGet(ctx, "h", "a", "c"), []any{"5", nil})
}

func sortedSetsRound(client *redis.Client) {
	ctx := background
	all := []redis.Z{{Score: 1, Member: "a"}, {Score: 2.5, Member: "b"}}
	want[int64]("ZADD", client.ZAdd(ctx, "z", all...), 2)
	want[float64]("ZSCORE", client.ZScore(ctx, "z", "b"), 2.5)
	want[float64]("ZINCRBY", client.ZIncrBy(ctx, "z", 2, "a"), 3)
	want[[]redis.Z]("ZRANGE WITHSCORES", client.ZRangeWithScores(ctx, "z", 0, -1),
		[]redis.Z{{Score: 2.5, Member: "b"}, {Score: 3, Member: "a"}})
	above := &redis.ZRangeBy{Min: "(2.5", Max: "+inf"}
	want[[]string]("ZRANGEBYSCORE", client.ZRangeByScore(ctx, "z", above), []string{"a"})
	want[int64]("ZRANK", client.ZRank(ctx, "z", "a"), 1)
	want[[]redis.Z]("ZPOPMIN", client.ZPopMin(ctx, "z"), []redis.Z{{Score: 2.5, Member: "b"}})
	want[*redis.ZWithKey]("BZPOPMAX", client.BZPopMax(ctx, time.Second, "z"),
		&redis.ZWithKey{Z: redis.Z{Score: 3, Member: "a"}, Key: "z"})
}

func keysRound(client *redis.Client) {
	ctx := background
	want[string]("FLUSHALL", client.FlushAll(ctx), "OK")
	for i := 0; i < 200; i++ {
		want[string]("SET", client.Set(ctx, fmt.Sprint("k", i), "v", 0), "OK")
	}
	found := map[string]bool{}
	names := client.Scan(ctx, 0, "k*", 50).Iterator()
	for names.Next(ctx) {
		found[names.Val()] = true
	}
	same("SCAN", len(found), 200)
	same("the end of SCAN", names.Err(), nil)
	sorted("KEYS", client.Keys(ctx, "k19[0-1]"), "k190", "k191")
	want[bool]("PEXPIRE", client.PExpire(ctx, "k1", time.Millisecond), true)
	time.Sleep(20 * time.Millisecond)
	wantNil[string]("GET of what has expired", client.Get(ctx, "k1"))
	want[int64]("DEL", client.Del(ctx, "k2", "k3"), 2)
}

func publishAndSubscribeRound(client *redis.Client) {
	ctx := background
	ear := client.Subscribe(ctx, "news.today")
	defer ear.Close()
	if err := ear.PSubscribe(ctx, "news.*"); err != nil {
		fail("PSUBSCRIBE", err.Error(), nil)
	}
	next := func() any {
		got, err := ear.ReceiveTimeout(ctx, 20*time.Second)
		if err != nil {
			fail("what a subscriber hears", err.Error(), nil)
		}
		return got
	}
	same("SUBSCRIBE", next(),
		any(&redis.Subscription{Kind: "subscribe", Channel: "news.today", Count: 1}))
	same("PSUBSCRIBE", next(),
		any(&redis.Subscription{Kind: "psubscribe", Channel: "news.*", Count: 2}))
	want[int64]("PUBLISH", client.Publish(ctx, "news.today", "rain"), 2)
	same("message", next(), any(&redis.Message{Channel: "news.today", Payload: "rain"}))
	same("pmessage", next(),
		any(&redis.Message{Channel: "news.today", Pattern: "news.*", Payload: "rain"}))
}

func transactionsRound(client *redis.Client) {
	ctx := background
	_, err := client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, "m", "1", 0)
		pipe.Incr(ctx, "m")
		return nil
	})
	same("MULTI", err, nil)
	want[string]("GET after MULTI", client.Get(ctx, "m"), "2")
	err = client.Watch(ctx, func(tx *redis.Tx) error {
		want[string]("SET by another", client.Set(ctx, "m", "other", 0), "OK")
		_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Set(ctx, "m", "mine", 0)
			return nil
		})
		return err
	}, "m")
	same("EXEC after a change", err, error(redis.TxFailedErr))
	want[string]("GET after it", client.Get(ctx, "m"), "other")
	counts, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i := 0; i < 1000; i++ {
			pipe.Incr(ctx, "n")
		}
		return nil
	})
	same("a pipeline", err, nil)
	for i, each := range counts {
		want[int64]("a pipeline", each.(*redis.IntCmd), int64(i+1))
	}
}

func main() {
	defer cancel()
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go_redis HOST PORT")
		os.Exit(2)
	}
	client := redis.NewClient(&redis.Options{Addr: os.Args[1] + ":" + os.Args[2]})
	want[string]("FLUSHALL", client.FlushAll(background), "OK")
	stringsRound(client)
	listsRound(client)
	setsAndHashesRound(client)
	sortedSetsRound(client)
	keysRound(client)
	publishAndSubscribeRound(client)
	transactionsRound(client)
	same("the end", client.Close(), nil)
}
