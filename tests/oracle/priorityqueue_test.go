package oracle

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// priorityQueue is controller-runtime's queue as a target.
type priorityQueue struct {
	priorityqueue.PriorityQueue[string]
}

func (q priorityQueue) add(op op) {
	q.AddWithOpts(priorityqueue.AddOpts{
		After:       time.Duration(op.AfterMS) * time.Millisecond,
		RateLimited: op.RateLimited,
		Priority:    op.Priority,
	}, op.Keys...)
}

func (q priorityQueue) get() got {
	key, priority, shutdown := q.GetWithPriority()
	return got{Key: key, Priority: &priority, Shutdown: shutdown}
}

// recordPriorityQueue plays a scenario twice, since no single metrics provider
// sees everything: once for what the registry has, once for the observations.
// What both runs see must agree.
func recordPriorityQueue(t *testing.T, s queueScenario) queueScenario {
	t.Helper()
	s.Steps = playForRegistry(t, s.Ops)
	for i, observed := range playForObservations(t, s.Ops) {
		seenTwice := s.Steps[i]
		seenTwice.Depth = nil
		s.Steps[i].QueueMS, s.Steps[i].WorkMS = observed.QueueMS, observed.WorkMS
		observed.QueueMS, observed.WorkMS = nil, nil
		if !reflect.DeepEqual(seenTwice, observed) {
			t.Fatalf("%s, step %d: two runs of the same ops differ: %+v, %+v", s.Name, i, seenTwice, observed)
		}
	}
	return s
}

func playForRegistry(t *testing.T, ops []op) (steps []queueStep) {
	const name = "registry"
	synctest.Test(t, func(t *testing.T) {
		steps = play(newPriorityQueue(name, nil), ops, func(step *queueStep) {
			metrics, err := read(name)
			must(t, err)
			step.Depth = metrics.by("workqueue_depth", "priority")
			step.Adds = new(int(metrics.number("workqueue_adds_total")))
			step.Retries = new(int(metrics.number("workqueue_retries_total")))
		})
		must(t, drop(name))
	})
	return steps
}

func playForObservations(t *testing.T, ops []op) (steps []queueStep) {
	synctest.Test(t, func(t *testing.T) {
		provider := &observations{}
		steps = play(newPriorityQueue("observations", provider), ops, func(step *queueStep) {
			seen := provider.take()
			step.QueueMS, step.WorkMS = seen.queueMS, seen.workMS
			step.Adds, step.Retries = new(seen.adds), new(seen.retries)
		})
	})
	return steps
}

// newPriorityQueue makes a queue with the default limiter; a nil provider
// leaves the one that feeds the registry.
func newPriorityQueue(name string, provider workqueue.MetricsProvider) priorityQueue {
	return priorityQueue{priorityqueue.New(name, func(o *priorityqueue.Opts[string]) {
		o.MetricProvider = provider
	})}
}
