package main

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
)

type queues struct {
	client    *asynq.Client
	inspector *asynq.Inspector
	ticks     int64 // runs of the scheduler's task
}

func double(_ context.Context, task *asynq.Task) error {
	number, err := strconv.Atoi(string(task.Payload()))
	if err != nil {
		return err
	}
	_, err = task.ResultWriter().Write([]byte(strconv.Itoa(2 * number)))
	return err
}

func flaky(ctx context.Context, task *asynq.Task) error {
	retries, _ := asynq.GetRetryCount(ctx)
	if retries < 2 {
		return errors.New("not yet")
	}
	_, err := task.ResultWriter().Write([]byte(strconv.Itoa(retries)))
	return err
}

func fruitless(context.Context, *asynq.Task) error {
	return fmt.Errorf("no number: %w", asynq.SkipRetry)
}

func endless(ctx context.Context, _ *asynq.Task) error {
	<-ctx.Done()
	return ctx.Err()
}

// sum is what the group's tasks become: one task with the sum of their numbers.
func sum(_ string, tasks []*asynq.Task) *asynq.Task {
	total := 0
	for _, task := range tasks {
		number, _ := strconv.Atoi(string(task.Payload()))
		total += number
	}
	return asynq.NewTask("double", []byte(strconv.Itoa(total)), asynq.Retention(time.Hour),
		asynq.TaskID("sum"))
}

func startServer(connection asynq.RedisConnOpt, queues *queues) *asynq.Server {
	server := asynq.NewServer(connection, asynq.Config{
		Concurrency: 4, Queues: map[string]int{"default": 2, "low": 1, "grouped": 1},
		RetryDelayFunc:           func(int, error, *asynq.Task) time.Duration { return 0 },
		DelayedTaskCheckInterval: 100 * time.Millisecond,
		GroupGracePeriod:         3 * time.Second, GroupMaxSize: 5,
		GroupAggregator: asynq.GroupAggregatorFunc(sum), LogLevel: asynq.FatalLevel})
	handlers := asynq.NewServeMux()
	handlers.HandleFunc("double", double)
	handlers.HandleFunc("flaky", flaky)
	handlers.HandleFunc("fruitless", fruitless)
	handlers.HandleFunc("endless", endless)
	handlers.HandleFunc("tick", func(context.Context, *asynq.Task) error {
		atomic.AddInt64(&queues.ticks, 1)
		return nil
	})
	wantNoError("asynq's server", server.Start(handlers))
	return server
}

func (queues *queues) enqueue(kind, payload string, options ...asynq.Option) *asynq.TaskInfo {
	info, err := queues.client.Enqueue(asynq.NewTask(kind, []byte(payload)),
		append([]asynq.Option{asynq.Retention(time.Hour)}, options...)...)
	wantNoError("asynq's enqueue of "+kind, err)
	return info
}

func (queues *queues) state(queue, id string) string {
	info, err := queues.inspector.GetTaskInfo(queue, id)
	if err != nil {
		return err.Error()
	}
	return info.State.String()
}

func (queues *queues) wantResult(what string, info *asynq.TaskInfo, result string) {
	eventually(what, func() string { return queues.state(info.Queue, info.ID) }, "completed")
	done, err := queues.inspector.GetTaskInfo(info.Queue, info.ID)
	wantNoError(what, err)
	want(what, string(done.Result), result)
}

func (queues *queues) runTasks() {
	tasks := []*asynq.TaskInfo{}
	for number := 0; number < 20; number++ {
		queue := []string{"default", "low"}[number%2]
		tasks = append(tasks, queues.enqueue("double", strconv.Itoa(number), asynq.Queue(queue)))
	}
	for number, info := range tasks {
		queues.wantResult("asynq's task", info, strconv.Itoa(2*number))
	}
	names, err := queues.inspector.Queues()
	wantNoError("asynq's queues", err)
	sort.Strings(names)
	want("asynq's queues", names, []string{"default", "low"})
	info, err := queues.inspector.GetQueueInfo("low")
	wantNoError("asynq's queue", err)
	want("asynq's counts", []int{info.Size, info.Completed, info.Processed, info.Failed},
		[]int{10, 10, 10, 0})
}

func (queues *queues) runDelayed() {
	info := queues.enqueue("double", "21", asynq.ProcessIn(time.Second))
	want("asynq's state of a delayed task", info.State.String(), "scheduled")
	queues.wantResult("asynq's delayed task", info, "42")
	_, err := queues.client.Enqueue(asynq.NewTask("double", nil), asynq.TaskID(info.ID))
	want("asynq's second task with one identifier", errors.Is(err, asynq.ErrTaskIDConflict), true)
}

func (queues *queues) runUnique() {
	task := asynq.NewTask("double", []byte("4"))
	options := []asynq.Option{asynq.Unique(time.Hour), asynq.ProcessIn(time.Hour)}
	info, err := queues.client.Enqueue(task, options...)
	wantNoError("asynq's unique task", err)
	_, err = queues.client.Enqueue(task, options...)
	want("asynq's unique task, twice", errors.Is(err, asynq.ErrDuplicateTask), true)
	wantNoError("asynq's removal", queues.inspector.DeleteTask("default", info.ID))
	info, err = queues.client.Enqueue(task, append(options, asynq.Retention(time.Hour))...)
	wantNoError("asynq's unique task after the first one's removal", err)
	wantNoError("asynq's early run", queues.inspector.RunTask("default", info.ID))
	queues.wantResult("asynq's task that is run early", info, "8")
}

func (queues *queues) runFailures() {
	queues.wantResult("asynq's task that is tried again", queues.enqueue("flaky", ""), "2")
	info := queues.enqueue("fruitless", "")
	state := func() string { return queues.state("default", info.ID) }
	eventually("asynq's task that fails", state, "archived")
	tasks, err := queues.inspector.ListArchivedTasks("default")
	wantNoError("asynq's archived tasks", err)
	want("asynq's number of archived tasks", len(tasks), 1)
	want("asynq's error of a task", tasks[0].LastErr, "no number: "+asynq.SkipRetry.Error())
	info = queues.enqueue("endless", "", asynq.MaxRetry(0))
	eventually("asynq's endless task", state, "active")
	wantNoError("asynq's cancellation", queues.inspector.CancelProcessing(info.ID))
	eventually("asynq's cancelled task", state, "archived")
}

func (queues *queues) runGroup() {
	for number := 1; number <= 5; number++ {
		queues.enqueue("double", strconv.Itoa(number), asynq.Queue("grouped"), asynq.Group("sum"))
	}
	eventually("asynq's group", func() string { return queues.state("grouped", "sum") },
		"completed")
	info, err := queues.inspector.GetTaskInfo("grouped", "sum")
	wantNoError("asynq's group", err)
	want("asynq's result of a group", string(info.Result), "30")
}

func (queues *queues) runPaused() {
	wantNoError("asynq's pause", queues.inspector.PauseQueue("low"))
	info := queues.enqueue("double", "5", asynq.Queue("low"))
	time.Sleep(300 * time.Millisecond)
	want("asynq's task in a paused queue", queues.state("low", info.ID), "pending")
	wantNoError("asynq's end of a pause", queues.inspector.UnpauseQueue("low"))
	queues.wantResult("asynq's task after the pause", info, "10")
}

func (queues *queues) runScheduler(connection asynq.RedisConnOpt) {
	scheduler := asynq.NewScheduler(connection, &asynq.SchedulerOpts{LogLevel: asynq.FatalLevel})
	entry, err := scheduler.Register("@every 1s", asynq.NewTask("tick", nil))
	wantNoError("asynq's entry of the scheduler", err)
	wantNoError("asynq's scheduler", scheduler.Start())
	eventually("asynq's scheduled task", func() bool {
		return atomic.LoadInt64(&queues.ticks) >= 2
	}, true)
	events, err := queues.inspector.ListSchedulerEnqueueEvents(entry)
	wantNoError("asynq's events of the scheduler", err)
	want("asynq's events of the scheduler", len(events) >= 2, true)
	scheduler.Shutdown()
}

func runAsynq(address string) {
	connection := asynq.RedisClientOpt{Addr: address}
	queues := &queues{
		client: asynq.NewClient(connection), inspector: asynq.NewInspector(connection)}
	servers := []*asynq.Server{startServer(connection, queues), startServer(connection, queues)}
	queues.runTasks()
	queues.runDelayed()
	queues.runUnique()
	queues.runFailures()
	queues.runGroup()
	queues.runPaused()
	queues.runScheduler(connection)
	running, err := queues.inspector.Servers()
	wantNoError("asynq's servers", err)
	want("asynq's number of servers", len(running), 2)
	for _, server := range servers {
		server.Shutdown()
	}
	wantNoError("asynq's end of a client", queues.client.Close())
	wantNoError("asynq's end of an inspector", queues.inspector.Close())
}
