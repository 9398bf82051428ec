package oracle

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// controllerName is the name of each controller and of its queue.
const controllerName = "raycluster"

// controllerRun is a real controller at work on a scripted reconciler.
type controllerRun struct {
	*recorder
	script map[string][]round
	// queue is the controller's own view of its queue, which a source is given
	// to add to; with the older queue it is a wrapper of the controller.
	queue   priorityqueue.PriorityQueue[reconcile.Request]
	stop    context.CancelFunc
	stopped chan struct{}
}

// withController starts the controller of a scenario in virtual time, lends it
// out, and leaves neither goroutines nor metrics of it behind.
func withController(t *testing.T, s controllerScenario, use func(*testing.T, *controllerRun)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		run := startController(t, s)
		defer run.finish(t)
		use(t, run)
	})
}

// startController starts a controller and returns when its workers wait.
func startController(t *testing.T, s controllerScenario) *controllerRun {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	run := &controllerRun{
		recorder: newRecorder(max(s.Workers, 1)),
		script:   s.Script,
		stop:     stop,
		stopped:  make(chan struct{}),
	}
	c, err := controller.NewTypedUnmanaged(controllerName, run.options(s))
	must(t, err)
	must(t, c.Watch(source.Func(run.takeQueue)))
	go func() {
		defer close(run.stopped)
		if err := c.Start(ctx); err != nil {
			t.Error(err)
		}
	}()
	synctest.Wait()
	return run
}

func (run *controllerRun) options(s controllerScenario) controller.Options {
	return controller.Options{
		SkipNameValidation:      new(true),
		MaxConcurrentReconciles: s.Workers,
		Reconciler:              run,
		UsePriorityQueue:        new(s.Queue != "fifo"),
		NewQueue: func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
			if s.Queue == "fifo" {
				return newRecordedFIFO(name, limiter, run.recorder)
			}
			return newRecordedPriorityQueue(name, limiter, run.recorder)
		},
	}
}

// takeQueue is a source that only remembers the queue, so that ops add to it
// as an event handler would.
func (run *controllerRun) takeQueue(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	run.queue = queue.(priorityqueue.PriorityQueue[reconcile.Request])
	return nil
}

// Reconcile plays the next round of the key's script. Two rounds of a key never
// run at once, but those of two keys do: the script is only touched under lock.
func (run *controllerRun) Reconcile(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
	key := request.String()
	defer run.ended(key)
	round := run.nextRound(key)
	if round.TakesMS > 0 {
		run.willHappen("end of "+key, time.Duration(round.TakesMS)*time.Millisecond)
		time.Sleep(time.Duration(round.TakesMS) * time.Millisecond)
	}
	return round.result()
}

func (run *controllerRun) nextRound(key string) round {
	n := run.countRound(key)
	if n < len(run.script[key]) {
		return run.script[key][n]
	}
	return round{}
}

// steps does the ops and returns what happened, a step for each.
func (run *controllerRun) steps(t *testing.T, ops []op) []controllerStep {
	t.Helper()
	steps := make([]controllerStep, len(ops))
	for i, op := range ops {
		steps[i] = run.step(t, op)
	}
	return steps
}

// step does one op, lets everything settle, and returns what happened.
func (run *controllerRun) step(t *testing.T, op op) controllerStep {
	t.Helper()
	run.do(op)
	synctest.Wait()
	length := run.queue.Len()
	synctest.Wait()
	step := run.take()
	step.Len = length
	metrics, err := read(controllerName)
	must(t, err)
	step.Metrics = measure(metrics)
	return step
}

func (run *controllerRun) do(op op) {
	switch op.Op {
	case "add":
		run.queue.AddWithOpts(priorityqueue.AddOpts{
			After:       time.Duration(op.AfterMS) * time.Millisecond,
			RateLimited: op.RateLimited,
			Priority:    op.Priority,
		}, requests(op.Keys)...)
	case "advance":
		time.Sleep(time.Duration(op.MS) * time.Millisecond)
	case "stop":
		run.stop()
	default:
		panic("unknown op " + op.Op)
	}
}

// finish stops the controller, waits for its workers and drops its metrics.
func (run *controllerRun) finish(t *testing.T) {
	t.Helper()
	run.stop()
	<-run.stopped
	synctest.Wait()
	must(t, drop(controllerName))
}

func requests(keys []string) []reconcile.Request {
	all := make([]reconcile.Request, len(keys))
	for i, key := range keys {
		namespace, name, _ := strings.Cut(key, "/")
		all[i].NamespacedName = types.NamespacedName{Namespace: namespace, Name: name}
	}
	return all
}
