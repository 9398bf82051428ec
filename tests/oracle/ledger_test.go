package oracle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ray-project/kuberay/ray-operator/controllers/ray/expectations"
)

// ledger follows which records are held, by Pod, and watches out for order.
//
// A check walks a map: it drops the met records it comes by and stops at the
// first unmet one. So after a check that says no, a record that was met may or
// may not be there; it is doubtful. A recording is only worth something if no
// answer depends on a doubtful record, and only what is the same in every order
// is noted. Whether a record is met is asked of the real code, too, with
// expectations that hold nothing else, where there is only one order.
type ledger map[string]*heldRecord

// heldRecord is a record that is held or, if doubtful, may be held.
type heldRecord struct {
	op       expectationOp
	doubtful bool
	// alone are expectations that hold this record only, one for each time that
	// it is judged, since the record is dropped when it is met.
	alone []expectations.RayClusterScaleExpectation
}

// isMet asks the real code about this record alone.
func (r *heldRecord) isMet() bool {
	first := r.alone[0]
	r.alone = r.alone[1:]
	return isSatisfied(first, r.op)
}

func isSatisfied(e expectations.RayClusterScaleExpectation, op expectationOp) bool {
	return e.IsSatisfied(context.Background(), op.Namespace, op.Cluster, op.Group)
}

func (l ledger) deleteAll(op expectationOp) {
	maps.DeleteFunc(l, func(_ string, r *heldRecord) bool {
		return r.op.Namespace == op.Namespace && r.op.Cluster == op.Cluster
	})
}

// group is what is known of the records of a group when it is checked: the
// Pods by whether their records are met, and those whose records are doubtful.
type group struct{ met, unmet, doubtful []string }

func (l ledger) judge(op expectationOp) (g group) {
	for _, key := range slices.Sorted(maps.Keys(l)) {
		r := l[key]
		if r.op.Namespace != op.Namespace || r.op.Cluster != op.Cluster || r.op.Group != op.Group {
			continue
		}
		if r.doubtful {
			g.doubtful = append(g.doubtful, key)
		}
		if r.isMet() {
			g.met = append(g.met, key)
		} else {
			g.unmet = append(g.unmet, key)
		}
	}
	return g
}

// kept are the Pods whose records are held for sure and not met.
func (g group) kept() []string {
	return slices.DeleteFunc(slices.Clone(g.unmet), func(key string) bool {
		return slices.Contains(g.doubtful, key)
	})
}

var (
	errOrder = errors.New("the answer depends on the order of a walk")
	errAlone = errors.New("the check is not what its records come to when each is judged alone")
)

// check holds the answer of a check, and the Pods that were read for it in
// turn, against what is known of the records, and notes what is determined.
func (l ledger) check(op expectationOp, satisfied bool, read []string) (expectationStep, error) {
	g := l.judge(op)
	step := expectationStep{Satisfied: &satisfied, Kept: g.kept()}
	switch {
	case len(step.Kept) == 0 && len(g.unmet) > 0:
		return step, errOrder
	case satisfied != (len(step.Kept) == 0):
		return step, errAlone
	case satisfied:
		return l.yes(g, step, read)
	}
	return l.no(g, step, read)
}

// yes: each record was met and is dropped. It was read, too, unless it is
// doubtful and was dropped before.
func (l ledger) yes(g group, step expectationStep, read []string) (expectationStep, error) {
	slices.Sort(read)
	for _, key := range g.met {
		if !slices.Contains(read, key) && !l[key].doubtful {
			return step, fmt.Errorf("%w: %s was not read", errAlone, key)
		}
		delete(l, key)
	}
	if len(g.doubtful) == 0 {
		step.Reads, step.Read = new(len(read)), read
	}
	return step, nil
}

// no: the record read last is not met and those read before it are, and were
// dropped.
func (l ledger) no(g group, step expectationStep, read []string) (expectationStep, error) {
	for i, key := range read {
		if !slices.Contains(g.met, key) != (i == len(read)-1) {
			return step, fmt.Errorf("%w: it read %v", errAlone, read)
		}
	}
	for _, key := range g.met {
		l[key].doubtful = true
	}
	for _, key := range slices.Sorted(slices.Values(append(g.met, g.unmet...))) {
		if l[key].doubtful {
			step.Maybe = append(step.Maybe, key)
		}
	}
	if len(g.met) == 0 {
		step.Reads = new(1)
	}
	if len(g.met)+len(g.unmet) == 1 {
		step.Read = read
	}
	return step, nil
}
