package oracle

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ray-project/kuberay/ray-operator/controllers/ray/expectations"
)

// expectationScenario is an entry of expectations/*.json.
type expectationScenario struct {
	Name  string            `json:"name"`
	Ops   []expectationOp   `json:"ops"`
	Steps []expectationStep `json:"steps"`
}

func (s expectationScenario) problem() string {
	ops := make([]op, len(s.Ops))
	for i := range ops {
		ops[i].Op = s.Ops[i].Op
	}
	return problemOfOps(ops,
		"expect", "check", "delete_all", "appear", "terminate", "vanish", "fail", "recover", "advance")
}

// expectationOp is one thing done to the expectations, to a Pod, to the reads
// or to the clock.
type expectationOp struct {
	Op        string `json:"op"`
	Namespace string `json:"namespace,omitempty"`
	Cluster   string `json:"cluster,omitempty"`
	Group     string `json:"group,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Action    string `json:"action,omitempty"`
	Error     string `json:"error,omitempty"`
	MS        int64  `json:"ms,omitempty"`
	NS        int64  `json:"ns,omitempty"`
}

func (op expectationOp) podKey() string { return op.Namespace + "/" + op.Pod }

func (op expectationOp) takes() time.Duration {
	return time.Duration(op.MS)*time.Millisecond + time.Duration(op.NS)
}

// expectationStep is what a check came to; an op of any other kind shows nothing.
type expectationStep struct {
	Satisfied *bool    `json:"satisfied,omitempty"`
	Reads     *int     `json:"reads,omitempty"`
	Read      []string `json:"read,omitempty"`
	Kept      []string `json:"kept,omitempty"`
	Maybe     []string `json:"maybe,omitempty"`
}

func recordExpectations(t *testing.T, s expectationScenario) expectationScenario {
	t.Helper()
	steps, err := runExpectations(t, s)
	must(t, err)
	s.Steps = steps
	return s
}

// runExpectations does the ops in virtual time; it is an error when what comes
// of them depends on the order in which Go walks a map.
func runExpectations(t *testing.T, s expectationScenario) (steps []expectationStep, err error) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		m := newMemory(len(s.Ops))
		steps = make([]expectationStep, len(s.Ops))
		for i, op := range s.Ops {
			if steps[i], err = m.do(op); err != nil {
				err = fmt.Errorf("%s, step %d: %w", s.Name, i, err)
				return
			}
		}
	})
	return steps, err
}

// memory is KubeRay's expectations over a fake API server.
type memory struct {
	pods   *pods
	all    expectations.RayClusterScaleExpectation
	ledger ledger
	// judgements bounds how often a record is judged alone.
	judgements int
}

func newMemory(judgements int) *memory {
	pods := newPods()
	return &memory{
		pods:       pods,
		all:        expectations.NewRayClusterScaleExpectation(pods.client),
		ledger:     ledger{},
		judgements: judgements,
	}
}

func (m *memory) do(op expectationOp) (expectationStep, error) {
	switch op.Op {
	case "expect":
		m.expect(op)
	case "check":
		return m.check(op)
	case "delete_all":
		m.all.Delete(op.Cluster, op.Namespace)
		m.ledger.deleteAll(op)
	case "advance":
		time.Sleep(op.takes())
	default:
		return expectationStep{}, m.pods.do(op)
	}
	return expectationStep{}, nil
}

// expect records the write in the expectations under test, and as often as it
// may be judged alone in expectations of its own.
func (m *memory) expect(op expectationOp) {
	record := func(into expectations.RayClusterScaleExpectation) {
		into.ExpectScalePod(op.Namespace, op.Cluster, op.Group, op.Pod, expectations.ScaleAction(op.Action))
	}
	record(m.all)
	alone := make([]expectations.RayClusterScaleExpectation, m.judgements)
	for i := range alone {
		alone[i] = expectations.NewRayClusterScaleExpectation(m.pods.client)
		record(alone[i])
	}
	m.ledger[op.podKey()] = &heldRecord{op: op, alone: alone}
}

func (m *memory) check(op expectationOp) (expectationStep, error) {
	m.pods.takeRead()
	satisfied := isSatisfied(m.all, op)
	read := m.pods.takeRead()
	return m.ledger.check(op, satisfied, read)
}
