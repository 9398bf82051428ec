package oracle

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// controllerScenario is an entry of controller/*.json.
type controllerScenario struct {
	Name string `json:"name"`
	// Workers is MaxConcurrentReconciles as asked for, before defaulting.
	Workers int `json:"workers"`
	// Queue is "fifo" for client-go's queue; absent for the priority queue.
	Queue  string             `json:"queue,omitempty"`
	Script map[string][]round `json:"script,omitempty"`
	Ops    []op               `json:"ops"`
	Steps  []controllerStep   `json:"steps"`
}

func (s controllerScenario) problem() string {
	for key, rounds := range s.Script {
		for _, round := range rounds {
			if !slices.Contains([]string{"", "plain", "terminal", "panic"}, round.Error) {
				return fmt.Sprintf("has a round of %s with the error %q, which is no kind of error", key, round.Error)
			}
		}
	}
	if s.Queue != "" && s.Queue != "fifo" {
		return fmt.Sprintf("has %q, which is no queue", s.Queue)
	}
	return problemOfOps(s.Ops, "add", "advance", "stop")
}

// round is what one call of Reconcile does: how long it takes and what comes
// back. The zero round is a success that takes no time; it follows the last
// round of each script.
type round struct {
	TakesMS        int64  `json:"takes_ms,omitempty"`
	Requeue        bool   `json:"requeue,omitempty"`
	RequeueAfterMS int64  `json:"requeue_after_ms,omitempty"`
	Priority       *int   `json:"priority,omitempty"`
	Error          string `json:"error,omitempty"`
}

// controllerStep is what an op led to.
type controllerStep struct {
	Started []started         `json:"started,omitempty"`
	Ended   []ended           `json:"ended,omitempty"`
	Calls   []call            `json:"calls,omitempty"`
	Len     int               `json:"len"`
	Metrics controllerMetrics `json:"metrics"`
}

// started is a key that a worker got from the queue.
type started struct {
	Key      string `json:"key"`
	Priority int    `json:"priority"`
	AtMS     int64  `json:"at_ms"`
}

// ended is a call of Reconcile that returned or panicked.
type ended struct {
	Key  string `json:"key"`
	AtMS int64  `json:"at_ms"`
}

// call is a call on the queue, by the controller or by the op of the step. It
// is noted before the queue sees it, also if the queue will ignore it.
type call struct {
	Call        string `json:"call"`
	Key         string `json:"key"`
	AfterMS     int64  `json:"after_ms,omitempty"`
	RateLimited bool   `json:"rate_limited,omitempty"`
	Priority    *int   `json:"priority,omitempty"`
	AtMS        int64  `json:"at_ms"`
}

func recordController(t *testing.T, s controllerScenario) controllerScenario {
	t.Helper()
	recorded, err := runController(t, s)
	must(t, err)
	return recorded
}

// runController plays a scenario and returns it with its steps, or an error
// when its outcome would depend on which goroutine ran first.
func runController(t *testing.T, s controllerScenario) (controllerScenario, error) {
	t.Helper()
	var err error
	withController(t, s, func(t *testing.T, run *controllerRun) {
		s.Steps = run.steps(t, s.Ops)
		err = run.clash(s.Name)
	})
	return s, err
}

// result is what the round returns once its time has passed.
func (r round) result() (reconcile.Result, error) {
	result := reconcile.Result{
		Requeue:      r.Requeue,
		RequeueAfter: time.Duration(r.RequeueAfterMS) * time.Millisecond,
		Priority:     r.Priority,
	}
	switch r.Error {
	case "":
		return result, nil
	case "plain":
		return result, errors.New("scripted error")
	case "terminal":
		return result, reconcile.TerminalError(errors.New("scripted terminal error"))
	case "panic":
		panic("scripted panic")
	}
	panic("unknown error " + r.Error)
}
