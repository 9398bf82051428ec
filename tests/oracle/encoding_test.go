package oracle

import (
	"strings"
	"testing"
)

// A file from which nothing can be compared must not pass for one that agrees.
func TestABrokenFileIsRefused(t *testing.T) {
	for data, want := range map[string]string{
		"":                                     "f.json is empty",
		" \n":                                  "f.json is empty",
		"[]":                                   "f.json holds no entries",
		"null":                                 "f.json holds no entries",
		`[{"name":"a"`:                         "f.json is not in the format: unexpected EOF",
		`{"name":"a"}`:                         "f.json is not in the format: json: cannot unmarshal object",
		`[{"name":"a","opps":[]}]`:             `f.json is not in the format: json: unknown field "opps"`,
		`[{"name":"a","ops":[{"op":"get"}]}]x`: "f.json goes on after the end of its list",
		`[{"name":"a","ops":[]}]`:              "f.json: entry 0 asks nothing of the real code",
		`[{"name":"a","ops":[{"op":"gte"}]}]`:  `f.json: entry 0 has "gte", which is no op here`,
	} {
		_, err := decode[queueScenario]("f.json", []byte(data))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got error %v, want %s", data, err, want)
		}
	}
}
