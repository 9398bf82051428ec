package oracle

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ray-project/kuberay/ray-operator/controllers/ray/expectations"
)

const (
	generatedExpectations = 240
	expectationsSeed      = 1730
)

// generateExpectationScenarios makes the ops of expectations/random.json. They
// are made once and stored; from then on the file is the input.
func generateExpectationScenarios(t *testing.T) []expectationScenario {
	t.Helper()
	scenarios := make([]expectationScenario, generatedExpectations)
	for i := range scenarios {
		scenarios[i] = generateOrderless(t, i)
	}
	return scenarios
}

// generateOrderless draws until no answer depends on the order of a walk.
func generateOrderless(t *testing.T, number int) expectationScenario {
	t.Helper()
	for attempt := range 1000 {
		d := &life{dice: dice{rand.New(rand.NewPCG(expectationsSeed, uint64(number*1000+attempt)))}}
		scenario := expectationScenario{Name: fmt.Sprintf("random-%d", number), Ops: d.live()}
		switch _, err := runExpectations(t, scenario); {
		case err == nil:
			return scenario
		case !errors.Is(err, errOrder):
			t.Fatal(err)
		}
	}
	t.Fatalf("no scenario number %d without an answer that depends on order", number)
	return expectationScenario{}
}

// life draws the ops of a scenario, one after the other.
type life struct {
	dice
	now      time.Duration
	groups   []expectationOp
	names    []string
	there    []string
	recorded []time.Duration
	failing  bool
}

func (d *life) live() []expectationOp {
	for range 1 + d.IntN(4) {
		d.groups = append(d.groups, expectationOp{
			Namespace: pick(d.dice, "default", "default", "team"),
			Cluster:   pick(d.dice, "a", "a", "b"),
			Group:     pick(d.dice, expectations.HeadGroup, "small", "small", "big"),
		})
	}
	d.names = []string{"p", "q", "r", "s", "t"}[:1+d.IntN(5)]
	var ops []expectationOp
	for range 24 + d.IntN(16) {
		ops = append(ops, d.op())
	}
	for _, op := range d.groups {
		op.Op = "check"
		ops = append(ops, op)
	}
	return ops
}

func (d *life) op() expectationOp {
	op := d.groups[d.IntN(len(d.groups))]
	switch luck := d.IntN(100); {
	case luck < 28:
		return d.expect(op)
	case luck < 56:
		op.Op = "check"
		return op
	case luck < 80:
		return d.pod(op.Namespace)
	case luck < 92:
		return d.advance()
	case luck < 97:
		return d.reads(op.Namespace)
	}
	return expectationOp{Op: "delete_all", Namespace: op.Namespace, Cluster: op.Cluster}
}

func (d *life) expect(op expectationOp) expectationOp {
	d.recorded = append(d.recorded, d.now)
	op.Op, op.Pod = "expect", d.name()
	op.Action = string(pick(d.dice, expectations.Create, expectations.Create, expectations.Delete))
	return op
}

func (d *life) name() string { return d.names[d.IntN(len(d.names))] }

// pod lets a Pod appear that is not there, and one that is there terminate or vanish.
func (d *life) pod(namespace string) expectationOp {
	op := expectationOp{Namespace: namespace, Pod: d.name()}
	at := slices.Index(d.there, op.podKey())
	switch {
	case at < 0:
		op.Op = "appear"
		d.there = append(d.there, op.podKey())
	case d.IntN(3) == 0:
		op.Op = "terminate"
	default:
		op.Op = "vanish"
		d.there = slices.Delete(d.there, at, at+1)
	}
	return op
}

// reads makes all reads fail or those of one Pod, or lets them work again.
func (d *life) reads(namespace string) expectationOp {
	d.failing = !d.failing
	if !d.failing {
		return expectationOp{Op: "recover"}
	}
	op := expectationOp{Op: "fail", Error: pick(d.dice, "internal", "server_timeout")}
	if d.IntN(2) == 0 {
		op.Namespace, op.Pod = namespace, d.name()
	}
	return op
}

// advance likes to end 30 s after a record was made, or a nanosecond beside that.
func (d *life) advance() expectationOp {
	wait := time.Duration(pick(d.dice, 1, 1+d.Int64N(999), 10_000, 29_999, 30_000, 30_001)) * time.Millisecond
	if len(d.recorded) > 0 && d.IntN(2) == 0 {
		due := d.recorded[d.IntN(len(d.recorded))] + expectations.ExpectationsTimeout
		if left := due + time.Duration(d.IntN(3)-1) - d.now; left > 0 {
			wait = left
		}
	}
	d.now += wait
	ms := wait.Round(time.Millisecond)
	return expectationOp{Op: "advance", MS: ms.Milliseconds(), NS: int64(wait - ms)}
}
