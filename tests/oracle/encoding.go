package oracle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// entry is an element of a golden file: what is done, and what came of it.
type entry interface {
	// problem says what is wrong with the input; empty when nothing is.
	problem() string
}

// noInput is the problem of an entry with which a comparison would show nothing.
const noInput = "asks nothing of the real code"

// encodeLines writes a list one element a line, so that a change of one
// scenario is a change of one line in a diff.
func encodeLines[T any](items []T) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("[\n")
	for i, item := range items {
		line, err := encode(item)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteString(",\n")
		}
		out.Write(line)
	}
	out.WriteString("\n]\n")
	return out.Bytes(), nil
}

// encodeWhole writes a list on a single line without a newline at its end, the
// form of the rate limiter files.
func encodeWhole[T any](items []T) ([]byte, error) {
	return encode(items)
}

func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimRight(out.Bytes(), "\n"), err
}

// decode reads the list in a golden file. It refuses fields that T does not
// know, because they would silently be lost when the file is recorded again,
// and everything with which a comparison would pass without comparing.
func decode[T entry](file string, data []byte) ([]T, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%s is empty", file)
	}
	var items []T
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&items); err != nil {
		return nil, fmt.Errorf("%s is not in the format: %w", file, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s goes on after the end of its list", file)
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("%s holds no entries", file)
	}
	for i, item := range items {
		if text := item.problem(); text != "" {
			return nil, fmt.Errorf("%s: entry %d %s", file, i, text)
		}
	}
	return items, nil
}
