package oracle

import (
	"strings"
	"testing"
)

// A changed number must be found and named, or the whole comparison is worth nothing.
func TestADifferenceIsNamed(t *testing.T) {
	was := `[{"name":"take-one","steps":[{"len":1},{"len":0,"depth":{"0":2}}]}]`
	now := strings.Replace(was, `"0":2`, `"0":3`, 1)
	found, err := differences("some.json", []byte(was), []byte(now))
	must(t, err)
	want := `some.json: "take-one", steps 1, depth, 0: was 2, now 3`
	if len(found) != 1 || found[0] != want {
		t.Errorf("got %q, want %q", found, want)
	}
}

// A step or field that is only there on one side is a difference, too.
func TestAMissingFieldIsNamed(t *testing.T) {
	found, err := differences("some.json", []byte(`[{"a":[1,2]},{"b":1}]`), []byte(`[{"a":[1]},{}]`))
	must(t, err)
	want := "some.json: entry 0, a 1: was 2, now absent; some.json: entry 1, b: was 1, now absent"
	if got := strings.Join(found, "; "); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The order of fields and white space are no data.
func TestLayoutIsNoDifference(t *testing.T) {
	found, err := differences("some.json", []byte(`[{"-1":2,"-2":1}]`), []byte("[\n{\"-2\": 1, \"-1\": 2}\n]"))
	must(t, err)
	if len(found) != 0 {
		t.Errorf("got %q, want none", found)
	}
}

func TestALineThatDiffersIsNamed(t *testing.T) {
	for now, want := range map[string]string{
		"a 1\nb 2\n":      "",
		"a 1\nb 3\n":      `some.prom: line 2: was "b 2\n", now "b 3\n"`,
		"a 1\n":           `some.prom: line 2: was "b 2\n", now absent`,
		"a 1\nb 2\nc 3\n": `some.prom: line 3: was absent, now "c 3\n"`,
	} {
		if got := differenceOfTexts("some.prom", "a 1\nb 2\n", now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
