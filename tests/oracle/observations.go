package oracle

import (
	"slices"
	"sync"

	"k8s.io/client-go/util/workqueue"
)

// observations is a metrics provider that keeps every single observation,
// where the registry only has sums and buckets. It cannot know depth by
// priority, because the interface for that is internal to controller-runtime;
// the registry has it.
type observations struct {
	// mu is here because a queue reports from several goroutines.
	mu              sync.Mutex
	queueMS, workMS []float64
	adds, retries   int
}

// seen is what was observed since the last call, sorted, and counted so far.
type seen struct {
	queueMS, workMS []float64
	adds, retries   int
}

func (o *observations) take() seen {
	o.mu.Lock()
	defer o.mu.Unlock()
	taken := seen{o.queueMS, o.workMS, o.adds, o.retries}
	o.queueMS, o.workMS = nil, nil
	slices.Sort(taken.queueMS)
	slices.Sort(taken.workMS)
	return taken
}

func (o *observations) NewLatencyMetric(string) workqueue.HistogramMetric {
	return samples{o, &o.queueMS}
}

func (o *observations) NewWorkDurationMetric(string) workqueue.HistogramMetric {
	return samples{o, &o.workMS}
}

func (o *observations) NewAddsMetric(string) workqueue.CounterMetric { return counter{o, &o.adds} }
func (o *observations) NewRetriesMetric(string) workqueue.CounterMetric {
	return counter{o, &o.retries}
}
func (o *observations) NewDepthMetric(string) workqueue.GaugeMetric { return unread{} }

func (o *observations) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return unread{}
}

func (o *observations) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return unread{}
}

// samples are durations in milliseconds, with the last digit Go's seconds leave
// in them (1000.9999999999999): the stored files have it.
type samples struct {
	*observations
	ms *[]float64
}

func (s samples) Observe(seconds float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*s.ms = append(*s.ms, seconds*1000)
}

type counter struct {
	*observations
	count *int
}

func (c counter) Inc() {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.count++
}

// unread stands for a gauge that nobody reads.
type unread struct{}

func (unread) Inc()        {}
func (unread) Dec()        {}
func (unread) Set(float64) {}
