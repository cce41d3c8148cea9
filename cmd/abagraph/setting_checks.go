package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

func isSet(value string) error {
	if strings.TrimSpace(value) == "" {
		return errors.New("must not be empty")
	}
	return nil
}

// isKey refuses what no header brings: the spaces at its ends are cut off on the way, so
// that such a key opens nothing. It is often the last line end of a file. The message does
// not tell the key.
func isKey(value string) error {
	if value != strings.TrimSpace(value) {
		return errors.New("begins or ends with white space, which no request can send")
	}
	if strings.ContainsFunc(value, unicode.IsControl) {
		return errors.New("holds a control character, which no request can send")
	}
	return nil
}

func isAddress(value string) error {
	_, port, err := net.SplitHostPort(value)
	if err != nil {
		return fmt.Errorf("must be HOST:PORT, not %q", value)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("must have a port from 0 to 65535, not %q", port)
	}
	return nil
}

func isCount(least, most int64) func(string) error {
	return func(value string) error {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < least || n > most {
			return fmt.Errorf("must be a whole number from %d to %d, not %q", least, most, value)
		}
		return nil
	}
}

func isFraction(value string) error {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || !(f >= 0 && f <= 1) {
		return fmt.Errorf("must be a number from 0 to 1, not %q", value)
	}
	return nil
}

func isOneOf(words ...string) func(string) error {
	return func(value string) error {
		if !slices.Contains(words, value) {
			return fmt.Errorf("must be one of %s, not %q", strings.Join(words, ", "), value)
		}
		return nil
	}
}
