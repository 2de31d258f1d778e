package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func wantOk(what string, ok bool, err error) {
	wantNoError(what, err)
	want(what, ok, true)
}

func isTaken(err error) bool {
	taken := &redsync.ErrTaken{}
	return errors.As(err, &taken)
}

func runHandOver(first, second *redsync.Redsync) {
	one := first.NewMutex("lock", redsync.WithExpiry(time.Minute))
	other := second.NewMutex("lock", redsync.WithExpiry(time.Minute), redsync.WithTries(1))
	wantNoError("redsync's lock", one.Lock())
	want("redsync's lock that is taken", isTaken(other.Lock()), true)
	ok, err := other.Unlock()
	want("redsync's unlock of a lock of another", ok, false)
	want("redsync's unlock of a lock of another", isTaken(err), true)
	ok, err = one.Extend()
	wantOk("redsync's extension", ok, err)
	want("redsync's time of life", time.Until(one.Until()) > 50*time.Second, true)
	ok, err = one.Unlock()
	wantOk("redsync's unlock", ok, err)
	wantNoError("redsync's lock that is free again", other.TryLock())
	ok, err = other.Unlock()
	wantOk("redsync's second unlock", ok, err)
}

func runExpiry(first, second *redsync.Redsync) {
	one := first.NewMutex("short", redsync.WithExpiry(500*time.Millisecond))
	wantNoError("redsync's short lock", one.Lock())
	other := second.NewMutex("short", redsync.WithTries(100),
		redsync.WithRetryDelay(50*time.Millisecond))
	wantNoError("redsync's lock after the expiry", other.Lock())
	ok, err := one.Extend()
	want("redsync's extension after the expiry", ok, false)
	want("redsync's error of that extension", err != nil, true)
	ok, err = other.Unlock()
	wantOk("redsync's unlock after the expiry", ok, err)
}

// runCounter counts in one key, by reads and writes that only the lock makes exact.
func runCounter(clients []*redis.Client, syncs []*redsync.Redsync) {
	workers := sync.WaitGroup{}
	for worker := 0; worker < 8; worker++ {
		workers.Add(1)
		go func(client *redis.Client, sync *redsync.Redsync) {
			defer workers.Done()
			lock := sync.NewMutex("counter lock", redsync.WithTries(1000),
				redsync.WithRetryDelay(5*time.Millisecond), redsync.WithExpiry(patience))
			for turn := 0; turn < 5; turn++ {
				wantNoError("redsync's lock of a counter", lock.Lock())
				number, err := client.Get(context.Background(), "counter").Int()
				if err != redis.Nil {
					wantNoError("redsync's counter", err)
				}
				set := client.Set(context.Background(), "counter", number+1, 0)
				wantNoError("redsync's counter", set.Err())
				ok, err := lock.Unlock()
				wantOk("redsync's unlock of a counter", ok, err)
			}
		}(clients[worker%2], syncs[worker%2])
	}
	workers.Wait()
	want("redsync's counter", clients[0].Get(context.Background(), "counter").Val(), "40")
}

func runRedsync(address string) {
	clients := []*redis.Client{}
	syncs := []*redsync.Redsync{}
	for len(clients) < 2 {
		client := redis.NewClient(&redis.Options{Addr: address})
		clients = append(clients, client)
		syncs = append(syncs, redsync.New(goredis.NewPool(client)))
	}
	runHandOver(syncs[0], syncs[1])
	runExpiry(syncs[0], syncs[1])
	runCounter(clients, syncs)
	for _, client := range clients {
		wantNoError("redsync's end", client.Close())
	}
}
