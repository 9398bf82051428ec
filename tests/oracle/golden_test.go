package oracle

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var recording = flag.Bool("record", false, "write the golden files that differ instead of failing")

// repeats is how often everything is recorded; all recordings must agree.
const repeats = 3

// golden is the way to record a file that is a list of entries.
type golden[S entry] struct {
	// record returns the entries of a file as they are now.
	record func(*testing.T, []S) []S
	encode func([]S) ([]byte, error)
	// generate makes the entries when there is no file yet; nil if they are
	// written by hand.
	generate func(*testing.T) []S
}

// each records entries that have nothing to do with each other.
func each[S entry](record func(*testing.T, S) S) func(*testing.T, []S) []S {
	return func(t *testing.T, entries []S) []S {
		t.Helper()
		recorded := make([]S, len(entries))
		for i, entry := range entries {
			recorded[i] = record(t, entry)
		}
		return recorded
	}
}

// generatedBy is g for a file that is made by generate when it is not there.
func (g golden[S]) generatedBy(generate func(*testing.T) []S) golden[S] {
	g.generate = generate
	return g
}

func (g golden[S]) check(t *testing.T, file string) {
	t.Helper()
	was, entries := g.load(t, file)
	now := g.recordRepeatedly(t, file, entries)
	if was == nil {
		writeGolden(t, file, now)
		return
	}
	found, err := differences(file, was, now)
	must(t, err)
	settle(t, file, found, now)
}

// load returns a file and what is in it; without a file, entries made for the
// occasion.
func (g golden[S]) load(t *testing.T, file string) ([]byte, []S) {
	t.Helper()
	if *recording && g.generate != nil && !exists(file) {
		return nil, g.generate(t)
	}
	data := readGolden(t, file)
	entries, err := decode[S](file, data)
	must(t, err)
	return data, entries
}

func (g golden[S]) recordRepeatedly(t *testing.T, file string, entries []S) []byte {
	t.Helper()
	first := g.recordOnce(t, entries)
	for range repeats - 1 {
		again := g.recordOnce(t, entries)
		if !bytes.Equal(first, again) {
			found, err := differences(file+" (two recordings)", first, again)
			must(t, err)
			t.Fatal(found)
		}
	}
	return first
}

func (g golden[S]) recordOnce(t *testing.T, entries []S) []byte {
	t.Helper()
	data, err := g.encode(g.record(t, entries))
	must(t, err)
	return data
}

// settle deals with what differs: it fails the test with those sentences or,
// when recording, writes the file. A file with the same data stays as it is.
func settle(t *testing.T, file string, found []string, now []byte) {
	t.Helper()
	if *recording {
		if len(found) > 0 {
			writeGolden(t, file, now)
		}
		return
	}
	for _, sentence := range found {
		t.Error(sentence)
	}
}

func exists(file string) bool {
	_, err := os.Stat(goldenPath(file))
	return err == nil
}

func readGolden(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(goldenPath(file))
	must(t, err)
	return data
}

func writeGolden(t *testing.T, file string, data []byte) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(goldenPath(file)), 0o755))
	must(t, os.WriteFile(goldenPath(file), data, 0o644))
	t.Logf("%s is written", file)
}

func goldenPath(file string) string {
	return filepath.Join("..", "golden", filepath.FromSlash(file))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
