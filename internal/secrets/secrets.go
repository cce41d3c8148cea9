package secrets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// MaxBytes is the most that a secret may have.
const MaxBytes = 64 << 10

// The server's settings begin with own; what operators keep for references may
// begin with open.
const (
	own  = "ABAGRAPH_"
	open = "ABAGRAPH_SECRET_"
)

// Check refuses what is no reference, and what names a setting of the server. The
// message says what is wrong, for the field that held it.
func Check(reference string) error {
	kind, name, _ := strings.Cut(reference, ":")
	switch kind {
	case "env":
		return checkVariable(name)
	case "file":
		if !filepath.IsAbs(name) || filepath.Clean(name) != name || len(name) > 1024 || strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 }) {
			return errors.New("must name a file by its whole path, such as file:/run/secrets/stripe")
		}
		return nil
	}
	return errors.New("must be env:NAME or file:/path: where the secret is kept, never the secret itself")
}

func checkVariable(name string) error {
	if name == "" || len(name) > 256 {
		return errors.New("must name a variable of 1 to 256 characters, such as env:STRIPE_SECRET")
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !(c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || i > 0 && c >= '0' && c <= '9') {
			return errors.New("must name a variable by letters, digits and underscores, such as env:STRIPE_SECRET")
		}
	}
	if strings.HasPrefix(strings.ToUpper(name), own) && !strings.HasPrefix(name, open) {
		return errors.New("names a setting of the server, which is no secret to hand on; a variable of your own may begin with " + open)
	}
	return nil
}

// Read returns what a reference names, without a line end at its end. The error
// tells what is wrong, and nothing of the value.
func Read(reference string) (string, error) {
	if err := Check(reference); err != nil {
		return "", fmt.Errorf("the reference %w", err)
	}
	kind, name, _ := strings.Cut(reference, ":")
	if kind == "env" {
		value, there := os.LookupEnv(name)
		if !there {
			return "", fmt.Errorf("the variable %s is not set on this node", name)
		}
		return checked([]byte(value))
	}
	b, err := readFile(name)
	if err != nil {
		return "", err
	}
	return checked(b)
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, errors.New("the file cannot be found or looked at on this node")
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("what the path names is no file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.New("the file cannot be opened on this node")
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, errors.New("the file cannot be read on this node")
	}
	return b, nil
}

func checked(b []byte) (string, error) {
	if len(b) > MaxBytes {
		return "", errors.New("the secret has more than 64 KiB")
	}
	b = bytes.TrimRight(b, "\r\n")
	if len(b) == 0 {
		return "", errors.New("the secret is empty")
	}
	return string(b), nil
}
