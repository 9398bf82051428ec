package oracle

import (
	"math"
	"testing"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

// exponentialRun is an entry of ratelimit/exponential.json: the delays of one
// key that fails again and again.
type exponentialRun struct {
	BaseMS, MaxMS int64
	DelaysMS      []int64
}

func (run exponentialRun) problem() string {
	if len(run.DelaysMS) == 0 {
		return noInput
	}
	return ""
}

func recordExponential(_ *testing.T, run exponentialRun) exponentialRun {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](
		time.Duration(run.BaseMS)*time.Millisecond, time.Duration(run.MaxMS)*time.Millisecond)
	delays := make([]int64, len(run.DelaysMS))
	for i := range delays {
		delays[i] = limiter.When("key").Milliseconds()
	}
	run.DelaysMS = delays
	return run
}

// bucketRun is an entry of ratelimit/token_bucket.json: one token reserved at
// each instant, and how long its owner must wait for it.
type bucketRun struct {
	QPS     float64   `json:"qps"`
	Burst   int       `json:"burst"`
	AtMS    []float64 `json:"at_ms"`
	DelayMS []float64 `json:"delay_ms"`
}

func (run bucketRun) problem() string {
	if len(run.AtMS) == 0 {
		return noInput
	}
	return ""
}

// recordBucket needs no virtual time, because a bucket takes the time as an argument.
func recordBucket(_ *testing.T, run bucketRun) bucketRun {
	limiter := rate.NewLimiter(rate.Limit(run.QPS), run.Burst)
	start := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	delays := make([]float64, len(run.AtMS))
	for i, ms := range run.AtMS {
		now := start.Add(time.Duration(math.Round(ms * 1e6)))
		delays[i] = float64(limiter.ReserveN(now, 1).DelayFrom(now)) / 1e6
	}
	run.DelayMS = delays
	return run
}
