package oracle

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"testing"
)

// checker compares one golden file with the real code, or writes it.
type checker interface {
	check(t *testing.T, file string)
}

var (
	priorityQueues = golden[queueScenario]{record: each(recordPriorityQueue), encode: encodeLines[queueScenario]}
	fifoQueues     = golden[queueScenario]{record: each(recordFIFOQueue), encode: encodeLines[queueScenario]}
	exponentials   = golden[exponentialRun]{record: each(recordExponential), encode: encodeWhole[exponentialRun]}
	buckets        = golden[bucketRun]{record: each(recordBucket), encode: encodeWhole[bucketRun]}
	controllers    = golden[controllerScenario]{record: each(recordController), encode: encodeLines[controllerScenario]}
	memories       = golden[expectationScenario]{record: each(recordExpectations), encode: encodeLines[expectationScenario]}
	families       = golden[family]{record: recordFamilies, encode: encodeLines[family], generate: noFamilies}
)

// goldens is every golden file and how it is recorded again.
var goldens = map[string]checker{
	"priorityqueue/named.json":    priorityQueues,
	"priorityqueue/random.json":   priorityQueues,
	"priorityqueue/stress.json":   priorityQueues,
	"fifoqueue/named.json":        fifoQueues,
	"fifoqueue/random.json":       fifoQueues,
	"ratelimit/exponential.json":  exponentials,
	"ratelimit/token_bucket.json": buckets,
	"controller/named.json":       controllers,
	"controller/random.json":      controllers.generatedBy(generateControllerScenarios),
	"expectations/named.json":     memories,
	"expectations/random.json":    memories.generatedBy(generateExpectationScenarios),
	"metrics/families.json":       families,
	"metrics/small_run.json":      controllers,
	"metrics/small_run.prom":      exposed{by: "metrics/small_run.json"},
}

func TestGolden(t *testing.T) {
	for _, file := range slices.Sorted(maps.Keys(goldens)) {
		t.Run(file, func(t *testing.T) { goldens[file].check(t, file) })
	}
}

// A file that nothing compares could say anything.
func TestNoFileIsForgotten(t *testing.T) {
	must(t, fs.WalkDir(os.DirFS(goldenPath(".")), ".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(file) != ".md" && goldens[file] == nil {
			t.Errorf("%s is a golden file that no test compares", file)
		}
		return err
	}))
}
