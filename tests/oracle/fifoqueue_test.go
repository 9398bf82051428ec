package oracle

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// fifoQueue is client-go's queue as a target.
type fifoQueue struct {
	workqueue.TypedRateLimitingInterface[string]
}

// add settles after each key: this queue takes one key a call, and a waiting
// worker may be quicker than the next call.
func (q fifoQueue) add(op op) {
	for _, key := range op.Keys {
		switch {
		case op.RateLimited:
			q.AddRateLimited(key)
		case op.AfterMS != 0:
			q.AddAfter(key, time.Duration(op.AfterMS)*time.Millisecond)
		default:
			q.Add(key)
		}
		synctest.Wait()
	}
}

func (q fifoQueue) get() got {
	key, shutdown := q.Get()
	return got{Key: key, Shutdown: shutdown}
}

// recordFIFOQueue runs on one processor. In a few of the random scenarios two
// keys fall due at one instant while two gets are blocked, and which get takes
// which key is up to Go's scheduler; with one processor it decides alike.
func recordFIFOQueue(t *testing.T, s queueScenario) queueScenario {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(*testing.T) {
		queue := workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.DefaultTypedControllerRateLimiter[string](),
			workqueue.TypedRateLimitingQueueConfig[string]{},
		)
		s.Steps = play(fifoQueue{queue}, s.Ops, func(*queueStep) {})
	})
	return s
}
