// asynq and redsync against a cache: two servers that work for clients, and locks that two
// clients compete for. asynq's delays are shorter than its defaults.
package main

import (
	"fmt"
	"os"
	"reflect"
	"time"
)

const patience = 30 * time.Second

func fail(what string, got, wanted any) {
	fmt.Fprintf(os.Stderr, "%s: got %#v, wanted %#v\n", what, got, wanted)
	os.Exit(1)
}

func want(what string, got, wanted any) {
	if !reflect.DeepEqual(got, wanted) {
		fail(what, got, wanted)
	}
}

func wantNoError(what string, err error) {
	if err != nil {
		fail(what, err.Error(), "no error")
	}
}

// eventually reads until the value is the wanted one, within the patience.
func eventually[T any](what string, read func() T, wanted T) {
	limit := time.Now().Add(patience)
	got := read()
	for !reflect.DeepEqual(got, wanted) && time.Now().Before(limit) {
		time.Sleep(20 * time.Millisecond)
		got = read()
	}
	want(what, got, wanted)
}

func main() {
	address := os.Args[1] + ":" + os.Args[2]
	runAsynq(address)
	fmt.Println("asynq done")
	runRedsync(address)
	fmt.Println("redsync done")
}
