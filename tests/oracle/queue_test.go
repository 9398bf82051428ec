package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// queueScenario is an entry of priorityqueue/*.json and fifoqueue/*.json.
type queueScenario struct {
	Name  string      `json:"name"`
	Ops   []op        `json:"ops"`
	Steps []queueStep `json:"steps"`
}

func (s queueScenario) problem() string {
	return problemOfOps(s.Ops, "add", "get", "done", "forget", "advance", "shutdown")
}

// op is one thing done to a queue or a controller.
type op struct {
	Op          string   `json:"op"`
	Keys        []string `json:"keys,omitempty"`
	Key         string   `json:"key,omitempty"`
	Worker      string   `json:"worker,omitempty"`
	AfterMS     int64    `json:"after_ms,omitempty"`
	Priority    *int     `json:"priority,omitempty"`
	RateLimited bool     `json:"rate_limited,omitempty"`
	MS          int64    `json:"ms,omitempty"`
}

// problemOfOps says whether there are ops, and only known ones.
func problemOfOps(ops []op, known ...string) string {
	for _, op := range ops {
		if !slices.Contains(known, op.Op) {
			return fmt.Sprintf("has %q, which is no op here", op.Op)
		}
	}
	if len(ops) == 0 {
		return noInput
	}
	return ""
}

// queueStep is what an op led to. The older queue has no metrics here, so its
// steps leave those fields out.
type queueStep struct {
	Got      []got          `json:"got,omitempty"`
	Len      int            `json:"len"`
	Depth    map[string]int `json:"depth,omitempty"`
	Adds     *int           `json:"adds,omitempty"`
	Retries  *int           `json:"retries,omitempty"`
	QueueMS  []float64      `json:"queue_ms,omitempty"`
	WorkMS   []float64      `json:"work_ms,omitempty"`
	Requeues map[string]int `json:"requeues,omitempty"`
}

// got is a get that returned.
type got struct {
	Worker   string `json:"worker"`
	Key      string `json:"key"`
	Priority *int   `json:"priority,omitempty"`
	Shutdown bool   `json:"shutdown,omitempty"`
	AtMS     int64  `json:"at_ms"`
}

// target is a queue under test: the calls both queues have in common, and the
// two that differ between them.
type target interface {
	workqueue.TypedRateLimitingInterface[string]
	add(op)
	get() got
}

// driver does ops to a queue and notes which gets return.
type driver struct {
	target
	start time.Time
	mu    sync.Mutex
	got   []got
}

// play does the ops and returns a step for each; measure adds what can be
// measured beside the calls. The queue is shut down in the end, since a bubble
// of virtual time may not be left with goroutines in it.
func play(queue target, ops []op, measure func(*queueStep)) []queueStep {
	d := &driver{target: queue, start: time.Now()}
	synctest.Wait()
	steps := make([]queueStep, len(ops))
	for i, op := range ops {
		d.do(op)
		synctest.Wait()
		steps[i].Len = d.Len()
		synctest.Wait()
		steps[i].Got, steps[i].Requeues = d.takeGot(), d.requeues(op)
		measure(&steps[i])
	}
	if !d.ShuttingDown() {
		d.ShutDown()
	}
	synctest.Wait()
	return steps
}

func (d *driver) do(op op) {
	switch op.Op {
	case "add":
		d.add(op)
	case "get":
		go d.getFor(op.Worker)
	case "done":
		d.Done(op.Key)
	case "forget":
		d.Forget(op.Key)
	case "advance":
		time.Sleep(time.Duration(op.MS) * time.Millisecond)
	case "shutdown":
		d.ShutDown()
	default:
		panic("unknown op " + op.Op)
	}
}

func (d *driver) getFor(worker string) {
	g := d.get()
	g.Worker, g.AtMS = worker, time.Since(d.start).Milliseconds()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.got = append(d.got, g)
}

// takeGot returns the gets since the last call, by worker.
func (d *driver) takeGot() []got {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.got
	d.got = nil
	slices.SortFunc(taken, func(a, b got) int { return cmp.Compare(a.Worker, b.Worker) })
	return taken
}

// requeues tells how often the limiter was asked for the keys of a rate-limited add.
func (d *driver) requeues(op op) map[string]int {
	if !op.RateLimited {
		return nil
	}
	counts := map[string]int{}
	for _, key := range op.Keys {
		counts[key] = d.NumRequeues(key)
	}
	return counts
}
