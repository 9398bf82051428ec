package oracle

import (
	"fmt"
	"sync"
	"time"
)

// recorder notes what happens between two steps, and watches out for races.
//
// A recording is only worth something if it does not depend on which goroutine
// ran first. So no two things that are set to happen on their own (the end of a
// round, a deadline, the 500 ms refresh of a gauge) may fall on the same
// instant, and no op may set two workers going at once.
type recorder struct {
	mu      sync.Mutex
	start   time.Time
	current controllerStep
	rounds  map[string]int
	planned map[time.Duration]string
	workers int
	busy    int
	// freeStart is when a worker last started while another one was idle.
	freeStart time.Duration
	clashes   []string
}

// refresh is how often queues refresh unfinished work and longest running.
const refresh = 500 * time.Millisecond

func newRecorder(workers int) *recorder {
	return &recorder{
		start:     time.Now(),
		rounds:    map[string]int{},
		planned:   map[time.Duration]string{},
		workers:   workers,
		freeStart: -1,
	}
}

// take returns what was noted since the last call.
func (r *recorder) take() controllerStep {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.current
	r.current = controllerStep{}
	r.freeStart = -1
	return taken
}

func (r *recorder) called(c call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.AtMS = time.Since(r.start).Milliseconds()
	r.current.Calls = append(r.current.Calls, c)
	if c.AfterMS > 0 {
		r.plan("deadline of "+c.Key, time.Duration(c.AfterMS)*time.Millisecond)
	}
}

func (r *recorder) started(key string, priority int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Since(r.start)
	r.current.Started = append(r.current.Started, started{key, priority, now.Milliseconds()})
	if r.freeStart == now {
		r.clashes = append(r.clashes, fmt.Sprintf("two workers start at %v", now))
	}
	r.busy++
	if r.busy < r.workers {
		r.freeStart = now
	}
}

func (r *recorder) ended(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy--
	r.current.Ended = append(r.current.Ended, ended{key, time.Since(r.start).Milliseconds()})
}

// countRound returns how many rounds the key has had before this one.
func (r *recorder) countRound(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rounds[key]++
	return r.rounds[key] - 1
}

// willHappen notes that something is set to happen after a while.
func (r *recorder) willHappen(what string, after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plan(what, after)
}

func (r *recorder) plan(what string, after time.Duration) {
	at := time.Since(r.start) + after
	other, taken := r.planned[at]
	switch {
	case at%refresh == 0:
		r.clashes = append(r.clashes, fmt.Sprintf("the %s falls on a refresh at %v", what, at))
	case taken && other != what:
		r.clashes = append(r.clashes, fmt.Sprintf("the %s and the %s fall on %v", other, what, at))
	}
	r.planned[at] = what
}

// clash is an error if the recording could have come out otherwise.
func (r *recorder) clash(scenario string) error {
	if len(r.clashes) == 0 {
		return nil
	}
	return fmt.Errorf("%s is no fair scenario: %s", scenario, r.clashes[0])
}
