package oracle

import (
	"strings"
	"testing"
	"testing/synctest"

	dto "github.com/prometheus/client_model/go"
)

// family is an entry of metrics/families.json: what a metric is called and
// means, and which series of it are there before anything has happened.
type family struct {
	Name    string    `json:"name"`
	Help    string    `json:"help"`
	Type    string    `json:"type"`
	Labels  []string  `json:"labels"`
	Buckets []float64 `json:"buckets,omitempty"`
	// Start is what a controller with a priority queue has, StartFIFO what one
	// with client-go's queue has.
	Start     []series `json:"start"`
	StartFIFO []series `json:"start_fifo"`
}

func (f family) problem() string {
	if f.Name == "" {
		return "has no name"
	}
	return ""
}

// series is one line of a family; the value of a histogram is its count.
type series struct {
	Labels map[string]string `json:"labels"`
	Value  float64           `json:"value"`
}

// noFamilies makes the first recording possible: this file has no input.
func noFamilies(*testing.T) []family { return nil }

// recordFamilies describes what a controller exposes. Vectors without a series
// are not gathered, so the families are those of a controller that has worked,
// and the series those of one that has only started.
func recordFamilies(t *testing.T, _ []family) []family {
	t.Helper()
	start, used := observeStart(t, "")
	startFIFO, _ := observeStart(t, "fifo")
	families := make([]family, len(used))
	for i, f := range used {
		families[i] = describe(f)
		families[i].Start = seriesOf(start, f.GetName())
		families[i].StartFIFO = seriesOf(startFIFO, f.GetName())
	}
	return families
}

// observeStart gathers the families of a controller when it has just started,
// and again when it has done one round.
func observeStart(t *testing.T, queue string) (start, used []*dto.MetricFamily) {
	t.Helper()
	withController(t, controllerScenario{Queue: queue}, func(t *testing.T, run *controllerRun) {
		var err error
		start, err = gather(controllerName)
		must(t, err)
		run.do(op{Op: "add", Keys: []string{"default/a"}})
		synctest.Wait()
		used, err = gather(controllerName)
		must(t, err)
	})
	return start, used
}

func describe(f *dto.MetricFamily) family {
	described := family{
		Name:   f.GetName(),
		Help:   f.GetHelp(),
		Type:   strings.ToLower(f.GetType().String()),
		Labels: labelNames(f),
	}
	for _, bucket := range f.Metric[0].Histogram.GetBucket() {
		described.Buckets = append(described.Buckets, bucket.GetUpperBound())
	}
	return described
}

func seriesOf(families []*dto.MetricFamily, name string) []series {
	found := []series{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, metric := range f.Metric {
			found = append(found, series{labelsOf(metric), valueOf(metric)})
		}
	}
	return found
}
