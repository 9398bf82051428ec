package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// differences compares two encodings of a list and describes, for each
// element that differs, the first place where it does. How the values are laid
// out and in which order an object has its fields makes no difference.
func differences(file string, was, now []byte) ([]string, error) {
	var before, after []any
	if err := decodeAny(was, &before); err != nil {
		return nil, err
	}
	if err := decodeAny(now, &after); err != nil {
		return nil, err
	}
	var found []string
	for i := range max(len(before), len(after)) {
		if text := difference("", at(before, i), at(after, i)); text != "" {
			found = append(found, fmt.Sprintf("%s: %s%s", file, title(at(before, i), i), text))
		}
	}
	return found, nil
}

// differenceOfTexts describes the first line in which two texts differ; it is
// empty when there is none.
func differenceOfTexts(file, was, now string) string {
	before, after := lines(was), lines(now)
	for i := range max(len(before), len(after)) {
		if text := difference("", at(before, i), at(after, i)); text != "" {
			return fmt.Sprintf("%s: line %d%s", file, i+1, text)
		}
	}
	return ""
}

func lines(text string) []any {
	var all []any
	for line := range strings.Lines(text) {
		all = append(all, line)
	}
	return all
}

// decodeAny keeps numbers as written: 8199.999999 must not become a float and back.
func decodeAny(data []byte, into *[]any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// title names an element of the list: by its name if it has one, else by its place.
func title(element any, index int) string {
	if object, ok := element.(map[string]any); ok && object["name"] != nil {
		return fmt.Sprintf("%q", object["name"])
	}
	return fmt.Sprintf("entry %d", index)
}

// difference describes the first place below path where two values differ; it
// is empty when there is none.
func difference(path string, was, now any) string {
	switch was := was.(type) {
	case map[string]any:
		if now, ok := now.(map[string]any); ok {
			return differenceOfObjects(path, was, now)
		}
	case []any:
		if now, ok := now.([]any); ok {
			return differenceOfLists(path, was, now)
		}
	default:
		if was == now {
			return ""
		}
	}
	return fmt.Sprintf("%s: was %s, now %s", path, show(was), show(now))
}

func differenceOfObjects(path string, was, now map[string]any) string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(now))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if text := difference(path+", "+key, was[key], now[key]); text != "" {
			return text
		}
	}
	return ""
}

func differenceOfLists(path string, was, now []any) string {
	for i := range max(len(was), len(now)) {
		if text := difference(fmt.Sprintf("%s %d", path, i), at(was, i), at(now, i)); text != "" {
			return text
		}
	}
	return ""
}

// at is the i-th element, or nil beyond the end.
func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func show(value any) string {
	if value == nil {
		return "absent"
	}
	text, err := encode(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
