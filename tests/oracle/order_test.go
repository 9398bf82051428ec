package oracle

import (
	"errors"
	"testing"
)

// seenOnce is a run in which the record of p is met in a check that the record
// of q stops: whether it is dropped there depends on which of the two comes first.
var seenOnce = []expectationOp{
	{Op: "appear", Namespace: "default", Pod: "p"},
	{Op: "expect", Namespace: "default", Cluster: "a", Pod: "p", Action: "create"},
	{Op: "expect", Namespace: "default", Cluster: "a", Pod: "q", Action: "create"},
	{Op: "check", Namespace: "default", Cluster: "a"},
	{Op: "vanish", Namespace: "default", Pod: "p"},
	{Op: "appear", Namespace: "default", Pod: "q"},
	{Op: "check", Namespace: "default", Cluster: "a"},
}

// It must be refused whichever comes first, or a recording would be good by luck.
func TestAnAnswerThatDependsOnTheOrderIsRefused(t *testing.T) {
	for range 10 {
		_, err := runExpectations(t, expectationScenario{Name: "seen-once", Ops: seenOnce})
		if !errors.Is(err, errOrder) {
			t.Fatalf("got %v, want %v", err, errOrder)
		}
	}
}

// Otherwise there would be nothing to refuse.
func TestGoAnswersInBothWays(t *testing.T) {
	answers := map[bool]bool{}
	for range 1000 {
		m := newMemory(0)
		for _, op := range seenOnce[:3] {
			_, err := m.do(op)
			must(t, err)
		}
		isSatisfied(m.all, seenOnce[3])
		must(t, errors.Join(m.pods.do(seenOnce[4]), m.pods.do(seenOnce[5])))
		answers[isSatisfied(m.all, seenOnce[6])] = true
		if len(answers) == 2 {
			return
		}
	}
	t.Errorf("a thousand runs have one answer: %v", answers)
}
