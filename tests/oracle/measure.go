package oracle

// controllerMetrics are the metrics of a controller and its queue after a step.
// Zeros are left out, except for the number of workers.
type controllerMetrics struct {
	ReconcileTotal          map[string]int `json:"reconcile_total,omitempty"`
	Errors                  int            `json:"errors,omitempty"`
	TerminalErrors          int            `json:"terminal_errors,omitempty"`
	Panics                  int            `json:"panics,omitempty"`
	ActiveWorkers           int            `json:"active_workers,omitempty"`
	MaxConcurrentReconciles int            `json:"max_concurrent_reconciles"`
	Depth                   map[string]int `json:"depth,omitempty"`
	Adds                    int            `json:"adds,omitempty"`
	Retries                 int            `json:"retries,omitempty"`
	ReconcileTime           durations      `json:"reconcile_time,omitzero"`
	QueueDuration           durations      `json:"queue_duration,omitzero"`
	WorkDuration            durations      `json:"work_duration,omitzero"`
	UnfinishedWorkMS        int64          `json:"unfinished_work_ms,omitempty"`
	LongestRunningMS        int64          `json:"longest_running_ms,omitempty"`
}

// durations sum up a histogram.
type durations struct {
	Count int   `json:"count"`
	SumMS int64 `json:"sum_ms"`
}

// measure reads the metrics of a controller and its queue.
func measure(r reading) controllerMetrics {
	return controllerMetrics{
		ReconcileTotal:          r.by("controller_runtime_reconcile_total", "result"),
		Errors:                  int(r.number("controller_runtime_reconcile_errors_total")),
		TerminalErrors:          int(r.number("controller_runtime_terminal_reconcile_errors_total")),
		Panics:                  int(r.number("controller_runtime_reconcile_panics_total")),
		ActiveWorkers:           int(r.number("controller_runtime_active_workers")),
		MaxConcurrentReconciles: int(r.number("controller_runtime_max_concurrent_reconciles")),
		Depth:                   r.by("workqueue_depth", "priority"),
		Adds:                    int(r.number("workqueue_adds_total")),
		Retries:                 int(r.number("workqueue_retries_total")),
		ReconcileTime:           r.durations("controller_runtime_reconcile_time_seconds"),
		QueueDuration:           r.durations("workqueue_queue_duration_seconds"),
		WorkDuration:            r.durations("workqueue_work_duration_seconds"),
		UnfinishedWorkMS:        milliseconds(r.number("workqueue_unfinished_work_seconds")),
		LongestRunningMS:        milliseconds(r.number("workqueue_longest_running_processor_seconds")),
	}
}
