package oracle

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/collectors"
	"k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// TestMain takes what has nothing to do with queues out of the way: the
// metrics of the Go process, which would make each reading of the registry
// slow, and the log lines of the panics that scenarios cause on purpose.
func TestMain(m *testing.M) {
	metrics.Registry.Unregister(collectors.NewGoCollector(
		collectors.WithGoCollectorRuntimeMetrics(collectors.MetricsAll)))
	metrics.Registry.Unregister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	runtime.PanicHandlers = nil
	m.Run()
}
