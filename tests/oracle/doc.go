// Package oracle asks the real Go code what it does.
//
// The Python model is held against the files in ../golden, and this package
// holds those files against controller-runtime, client-go, x/time and KubeRay.
// Nearly every file carries its own input: the ops of a queue, the script of a
// controller, the instants of a rate limiter, the fate of some Pods. A test
// feeds the input to the real code in virtual time (testing/synctest) and
// compares what comes back with what is stored. The two that have none tell
// what a controller exposes: metrics/families.json, and metrics/small_run.prom,
// whose input is beside it.
//
//	go test -count=1 ./...            compare, and name the first differences
//	go test -count=1 ./... -record    write what the real code does now
//
// Every scenario is recorded three times, also when only comparing: a scenario
// whose outcome depends on which goroutine ran first would be no measure for
// anything. Where Go promises no order, as in the walk of KubeRay's expectations
// over a map, only what is the same in every order is recorded; see ledger.
//
// Only exported API is used. What a queue or controller does is seen in three
// ways: in what its calls return, in the metrics registry, and through thin
// wrappers where the public options let us pass one in.
package oracle
