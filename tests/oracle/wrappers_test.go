package oracle

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// recordedPriorityQueue passes everything on to the real queue. It still is a
// PriorityQueue: for anything less the controller would drop priorities.
type recordedPriorityQueue struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	rec *recorder
}

func newRecordedPriorityQueue(name string, limiter workqueue.TypedRateLimiter[reconcile.Request], rec *recorder) *recordedPriorityQueue {
	queue := priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) {
		o.RateLimiter = watchedLimiter{limiter, rec}
	})
	return &recordedPriorityQueue{queue, rec}
}

// AddWithOpts notes one call for each of the requests.
func (q *recordedPriorityQueue) AddWithOpts(o priorityqueue.AddOpts, requests ...reconcile.Request) {
	for _, request := range requests {
		q.rec.called(call{
			Call:        "add_with_opts",
			Key:         request.String(),
			AfterMS:     o.After.Milliseconds(),
			RateLimited: o.RateLimited,
			Priority:    o.Priority,
		})
	}
	q.PriorityQueue.AddWithOpts(o, requests...)
}

func (q *recordedPriorityQueue) GetWithPriority() (reconcile.Request, int, bool) {
	request, priority, shutdown := q.PriorityQueue.GetWithPriority()
	if !shutdown {
		q.rec.started(request.String(), priority)
	}
	return request, priority, shutdown
}

func (q *recordedPriorityQueue) Forget(request reconcile.Request) {
	q.rec.called(call{Call: "forget", Key: request.String()})
	q.PriorityQueue.Forget(request)
}

func (q *recordedPriorityQueue) Done(request reconcile.Request) {
	q.rec.called(call{Call: "done", Key: request.String()})
	q.PriorityQueue.Done(request)
}

// recordedFIFO passes everything on to client-go's queue. It sits below the
// controller's own wrapper, so it sees what became of AddWithOpts.
type recordedFIFO struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	rec *recorder
}

func newRecordedFIFO(name string, limiter workqueue.TypedRateLimiter[reconcile.Request], rec *recorder) *recordedFIFO {
	config := workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Name: name}
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(watchedLimiter{limiter, rec}, config)
	return &recordedFIFO{queue, rec}
}

func (q *recordedFIFO) Add(request reconcile.Request) {
	q.rec.called(call{Call: "add", Key: request.String()})
	q.TypedRateLimitingInterface.Add(request)
}

func (q *recordedFIFO) AddAfter(request reconcile.Request, after time.Duration) {
	q.rec.called(call{Call: "add_after", Key: request.String(), AfterMS: after.Milliseconds()})
	q.TypedRateLimitingInterface.AddAfter(request, after)
}

func (q *recordedFIFO) AddRateLimited(request reconcile.Request) {
	q.rec.called(call{Call: "add_rate_limited", Key: request.String()})
	q.TypedRateLimitingInterface.AddRateLimited(request)
}

func (q *recordedFIFO) Get() (reconcile.Request, bool) {
	request, shutdown := q.TypedRateLimitingInterface.Get()
	if !shutdown {
		q.rec.started(request.String(), 0)
	}
	return request, shutdown
}

func (q *recordedFIFO) Forget(request reconcile.Request) {
	q.rec.called(call{Call: "forget", Key: request.String()})
	q.TypedRateLimitingInterface.Forget(request)
}

func (q *recordedFIFO) Done(request reconcile.Request) {
	q.rec.called(call{Call: "done", Key: request.String()})
	q.TypedRateLimitingInterface.Done(request)
}

// watchedLimiter tells the recorder when each delay it hands out will be over.
type watchedLimiter struct {
	workqueue.TypedRateLimiter[reconcile.Request]
	rec *recorder
}

func (l watchedLimiter) When(request reconcile.Request) time.Duration {
	delay := l.TypedRateLimiter.When(request)
	l.rec.willHappen("deadline of "+request.String(), delay)
	return delay
}
