package oracle

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

const (
	generatedScenarios = 140
	generatorSeed      = 20240
)

// generateControllerScenarios makes the ops and scripts of controller/random.json.
// They are made once and stored; from then on the file is the input.
func generateControllerScenarios(t *testing.T) []controllerScenario {
	t.Helper()
	scenarios := make([]controllerScenario, generatedScenarios)
	for i := range scenarios {
		scenarios[i] = generateFair(t, i)
	}
	return scenarios
}

// generateFair draws until nothing in the scenario depends on luck.
func generateFair(t *testing.T, number int) controllerScenario {
	t.Helper()
	for attempt := range 1000 {
		d := dice{rand.New(rand.NewPCG(generatorSeed, uint64(number*1000+attempt)))}
		scenario := d.scenario()
		scenario.Name = fmt.Sprintf("random-%d", number)
		if _, err := runController(t, scenario); err == nil {
			return scenario
		}
	}
	t.Fatalf("no fair scenario number %d", number)
	return controllerScenario{}
}

// dice draws the parts of a scenario.
type dice struct{ *rand.Rand }

func (d dice) scenario() controllerScenario {
	keys := []string{"default/a", "default/b", "prod/a", "prod/c"}[:1+d.IntN(4)]
	s := controllerScenario{
		Workers: pick(d, 0, 1, 1, 1, 2, 2, 3, 4),
		Queue:   pick(d, "", "", "", "", "", "fifo"),
		Script:  map[string][]round{},
	}
	for _, key := range keys {
		for range d.IntN(6) {
			s.Script[key] = append(s.Script[key], d.round())
		}
	}
	for range 10 + d.IntN(14) {
		s.Ops = append(s.Ops, d.op(keys, s.Workers <= 1 && s.Queue == ""))
	}
	if d.IntN(4) == 0 {
		s.Ops = append(s.Ops, op{Op: "stop"}, d.op(keys, false), d.advance(), d.op(keys, false))
	}
	s.Ops = append(s.Ops, op{Op: "advance", MS: 3001})
	return s
}

func (d dice) round() round {
	r := round{TakesMS: pick(d, 0, d.Int64N(30), d.Int64N(400), d.Int64N(1300))}
	if d.IntN(3) == 0 {
		r.Priority = new(d.priority())
	}
	switch d.IntN(10) {
	case 0, 1:
		r.Error = "plain"
	case 2:
		r.Error = pick(d, "terminal", "panic")
	case 3, 4:
		r.Requeue = true
	case 5, 6:
		r.RequeueAfterMS = d.delay()
	case 7:
		r.Error = pick(d, "", "plain", "terminal")
		r.Requeue, r.RequeueAfterMS = d.IntN(2) == 0, d.delay()
	}
	return r
}

// op draws adds and advances; several keys in one add are only fair if they
// reach the queue at once and one worker takes them in turn.
func (d dice) op(keys []string, several bool) op {
	if d.IntN(2) == 0 {
		return d.advance()
	}
	add := op{Op: "add", Keys: []string{keys[d.IntN(len(keys))]}}
	if several && d.IntN(4) == 0 {
		add.Keys = append(add.Keys, keys[d.IntN(len(keys))])
	}
	if d.IntN(2) == 0 {
		add.Priority = new(d.priority())
	}
	if d.IntN(4) == 0 {
		add.AfterMS = d.delay()
	}
	add.RateLimited = d.IntN(6) == 0
	return add
}

func (d dice) advance() op {
	return op{Op: "advance", MS: 1 + pick(d, d.Int64N(20), d.Int64N(200), d.Int64N(900))}
}

func (d dice) priority() int { return pick(d, -100, -1, 0, 1, 5, 100) }

// delay is now and then negative, which counts as none.
func (d dice) delay() int64 { return pick(d, -7, 1+d.Int64N(40), 1+d.Int64N(900), 1+d.Int64N(900)) }

func pick[T any](d dice, choices ...T) T { return choices[d.IntN(len(choices))] }
