package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// maxConfigBytes bounds the configuration file.
const maxConfigBytes = 1 << 20

// readConfig reads the file that --config or ABAGRAPH_CONFIG names, if any: the
// values by the names of settings.
func readConfig(flags *pflag.FlagSet, getenv func(string) string) (map[string]string, string, error) {
	path := getenv("ABAGRAPH_CONFIG")
	if flag := flags.Lookup("config"); flag != nil && flag.Changed {
		if path = flag.Value.String(); path == "" {
			return nil, "", errors.New("--config is empty: give it a file, or leave it out")
		}
	}
	if path == "" {
		return nil, "", nil
	}
	raw, err := readSmall(path)
	if err != nil {
		return nil, path, fmt.Errorf("read the configuration file: %w", err)
	}
	values, err := parseConfig(raw)
	if err != nil {
		return nil, path, fmt.Errorf("configuration file %s: %w", path, err)
	}
	return values, path, nil
}

func readSmall(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxConfigBytes+1))
	if err == nil && len(raw) > maxConfigBytes {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxConfigBytes)
	}
	return raw, err
}

// parseConfig reads JSON, or lines of name=value with # comments. Names are
// those of the settings or of their environment variables, hyphens allowed.
func parseConfig(raw []byte) (map[string]string, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return parseJSONConfig(raw)
	}
	values := map[string]string{}
	for i, line := range strings.Split(string(raw), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, found := strings.Cut(line, "=")
		if !found {
			return nil, fmt.Errorf("line %d is not name=value", i+1)
		}
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		text := unquote(value)
		if text == value && (strings.Contains(value, " #") || strings.Contains(value, "\t#")) {
			return nil, fmt.Errorf("line %d: %s: a comment stands on a line of its own; a value that holds it is put in quotes", i+1, name)
		}
		if err := putConfig(values, name, text); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return values, nil
}

func unquote(value string) string {
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	return value
}

func parseJSONConfig(raw []byte) (map[string]string, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	values := map[string]string{}
	if err := eachMember(decoder, func(name string, value any) error {
		text, err := configText(value)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return putConfig(values, name, text)
	}); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON object")
	}
	return values, nil
}

// eachMember tells the members of an object one by one, in their order: a name that
// is there twice is told twice.
func eachMember(decoder *json.Decoder, tell func(name string, value any) error) error {
	invalid := func(err error) error { return fmt.Errorf("it is not valid JSON: %w", err) }
	if _, err := decoder.Token(); err != nil { // {
		return invalid(err)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return invalid(err)
		}
		var value any
		if err := decoder.Decode(&value); err != nil {
			return invalid(err)
		}
		if err := tell(fmt.Sprint(name), value); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil { // }
		return invalid(err)
	}
	return nil
}

func configText(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case bool:
		return fmt.Sprint(v), nil
	case []any:
		parts := make([]string, len(v))
		for i, one := range v {
			text, err := configText(one)
			if err != nil {
				return "", err
			}
			parts[i] = text
		}
		return strings.Join(parts, ","), nil
	}
	return "", errors.New("must be text, a number, a bool or a list of them")
}

func putConfig(values map[string]string, name, value string) error {
	plain := strings.TrimPrefix(strings.ReplaceAll(strings.ToLower(name), "-", "_"), "abagraph_")
	known := slices.ContainsFunc(serverSettings(), func(s setting) bool { return s.name == plain })
	if !known {
		return fmt.Errorf("there is no setting %q (abagraph config lists them)", name)
	}
	if _, twice := values[plain]; twice {
		return fmt.Errorf("the setting %q is given twice", name)
	}
	values[plain] = value
	return nil
}
