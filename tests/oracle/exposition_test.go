package oracle

import (
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
)

// exposed is a text file with what the registry exposes at the end of the run
// that another golden file describes, before that controller is stopped.
type exposed struct{ by string }

func (e exposed) check(t *testing.T, file string) {
	t.Helper()
	scenarios, err := decode[controllerScenario](e.by, readGolden(t, e.by))
	must(t, err)
	now := e.record(t, scenarios)
	for range repeats - 1 {
		if sentence := differenceOfTexts(file+" (two recordings)", now, e.record(t, scenarios)); sentence != "" {
			t.Fatal(sentence)
		}
	}
	if *recording && !exists(file) {
		writeGolden(t, file, []byte(now))
		return
	}
	var found []string
	if sentence := differenceOfTexts(file, string(readGolden(t, file)), now); sentence != "" {
		found = append(found, sentence)
	}
	settle(t, file, found, []byte(now))
}

func (exposed) record(t *testing.T, scenarios []controllerScenario) string {
	t.Helper()
	var text strings.Builder
	for _, s := range scenarios {
		withController(t, s, func(t *testing.T, run *controllerRun) {
			run.steps(t, s.Ops)
			must(t, run.clash(s.Name))
			must(t, expose(controllerName, &text))
		})
	}
	return text.String()
}

// expose writes the series of one controller in the classic text format, which
// has the fixed buckets of histograms and not the native ones.
func expose(controller string, text *strings.Builder) error {
	families, err := gather(controller)
	for _, family := range families {
		if _, writeErr := expfmt.MetricFamilyToText(text, family); writeErr != nil {
			return writeErr
		}
	}
	return err
}
