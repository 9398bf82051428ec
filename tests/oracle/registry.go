package oracle

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// controllerLabel is on every series of a queue or controller.
const controllerLabel = "controller"

// gather returns the families about queues and controllers of the public
// registry, each cut down to the series of one controller; families without
// such a series are left out.
func gather(controller string) ([]*dto.MetricFamily, error) {
	families, err := metrics.Registry.Gather()
	families = slices.DeleteFunc(families, aboutSomethingElse)
	for _, family := range families {
		family.Metric = slices.DeleteFunc(family.Metric, func(m *dto.Metric) bool {
			return labelsOf(m)[controllerLabel] != controller
		})
	}
	families = slices.DeleteFunc(families, func(f *dto.MetricFamily) bool { return len(f.Metric) == 0 })
	return families, err
}

// aboutSomethingElse tells the families of webhooks, certificates and the
// process from those of queues and controllers.
func aboutSomethingElse(family *dto.MetricFamily) bool {
	name := family.GetName()
	return !strings.HasPrefix(name, "workqueue_") && !strings.HasPrefix(name, "controller_runtime_")
}

// drop removes the series of one controller, so that each scenario starts from
// an empty registry and reading it stays cheap.
func drop(controller string) error {
	families, err := gather(controller)
	for _, family := range families {
		vector, lookupErr := registered(family)
		if lookupErr != nil {
			return errors.Join(err, lookupErr)
		}
		vector.DeletePartialMatch(prometheus.Labels{controllerLabel: controller})
	}
	return err
}

// vector is what all metric vectors can do and we need.
type vector interface {
	DeletePartialMatch(prometheus.Labels) int
}

// registered finds the collector behind a gathered family: registering a twin
// of it is refused with an error that holds the original.
func registered(family *dto.MetricFamily) (vector, error) {
	opts := prometheus.GaugeOpts{Name: family.GetName(), Help: family.GetHelp()}
	err := metrics.Registry.Register(prometheus.NewGaugeVec(opts, labelNames(family)))
	var already prometheus.AlreadyRegisteredError
	if errors.As(err, &already) {
		if found, ok := already.ExistingCollector.(vector); ok {
			return found, nil
		}
	}
	return nil, fmt.Errorf("no vector behind %s: %w", family.GetName(), err)
}

func labelNames(family *dto.MetricFamily) []string {
	var names []string
	for _, pair := range family.Metric[0].Label {
		names = append(names, pair.GetName())
	}
	return names
}

func labelsOf(metric *dto.Metric) map[string]string {
	labels := map[string]string{}
	for _, pair := range metric.Label {
		labels[pair.GetName()] = pair.GetValue()
	}
	return labels
}

// reading is what the registry says about one controller at one moment: the
// series by family name.
type reading map[string][]*dto.Metric

func read(controller string) (reading, error) {
	families, err := gather(controller)
	r := reading{}
	for _, family := range families {
		r[family.GetName()] = family.Metric
	}
	return r, err
}

// number is the value of a family with one series, 0 if there is none yet.
func (r reading) number(family string) float64 {
	for _, metric := range r[family] {
		return valueOf(metric)
	}
	return 0
}

// by returns the values of a family by one of its labels, zeros left out.
func (r reading) by(family, label string) map[string]int {
	values := map[string]int{}
	for _, metric := range r[family] {
		if value := valueOf(metric); value != 0 {
			values[labelsOf(metric)[label]] = int(value)
		}
	}
	return values
}

// durations is the number of observations of a histogram and their sum.
func (r reading) durations(family string) durations {
	for _, metric := range r[family] {
		return durations{
			Count: int(metric.Histogram.GetSampleCount()),
			SumMS: milliseconds(metric.Histogram.GetSampleSum()),
		}
	}
	return durations{}
}

func valueOf(metric *dto.Metric) float64 {
	if metric.Counter != nil {
		return metric.Counter.GetValue()
	}
	return metric.Gauge.GetValue()
}

// milliseconds turns seconds into whole milliseconds. All scenarios are made of
// whole milliseconds, so more than a rounding error in the sum is a mistake.
func milliseconds(seconds float64) int64 {
	ms := math.Round(seconds * 1000)
	if math.Abs(seconds*1000-ms) > 1e-6 {
		panic(fmt.Sprintf("%v s is not a whole number of milliseconds", seconds))
	}
	return int64(ms)
}
