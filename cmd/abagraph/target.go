package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"abagraph/client"
)

// errNoURL is the documents' own sentence.
var errNoURL = errors.New("No abagraph URL configured. Run `abagraph init --url <URL>` or set ABAGRAPH_URL.") //nolint:staticcheck

// saved is ~/.abagraph.json.
type saved struct {
	URL string `json:"url"`
	Key string `json:"key,omitempty"`
}

const savedName = ".abagraph.json"

// The environment's names for the server and the key, the first that is set
// winning.
var (
	urlNames = []string{"ABAGRAPH_URL", "ABAGRAPH_BASE_URL"}
	keyNames = []string{"ABAGRAPH_KEY", "ABAGRAPH_API_KEY", "ABAGRAPH_TOKEN"}
)

// found is a value and where it was found.
type found struct{ value, from string }

// target looks up the server and the key: flag, environment, file.
func (a *app) target() (url, key found) {
	file, path := a.readSaved()
	return a.lookUp("--url", a.url, urlNames, file.URL, path), a.lookUp("--key", a.key, keyNames, file.Key, path)
}

func (a *app) lookUp(flag, given string, names []string, inFile, path string) found {
	if given != "" {
		return found{given, "flag " + flag}
	}
	for _, name := range names {
		if value := a.getenv(name); value != "" {
			return found{value, "environment " + name}
		}
	}
	if inFile != "" {
		return found{inFile, "file " + path}
	}
	return found{"", "not set"}
}

// readSaved reads ~/.abagraph.json. A malformed file is ignored, as documented.
func (a *app) readSaved() (saved, string) {
	path, err := a.savedPath()
	if err != nil {
		return saved{}, "~/" + savedName
	}
	raw, err := os.ReadFile(path)
	var file saved
	if err != nil || json.Unmarshal(raw, &file) != nil {
		return saved{}, path
	}
	return file, path
}

func (a *app) savedPath() (string, error) {
	home, err := a.home()
	if err != nil {
		return "", fmt.Errorf("find the home directory: %w", err)
	}
	return filepath.Join(home, savedName), nil
}

// writeSaved replaces ~/.abagraph.json by a file that only its owner can read.
func (a *app) writeSaved(s saved) error {
	path, err := a.savedPath()
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write ~/%s: %w", savedName, err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), savedName+".*") // made with mode 0600
	if err != nil {
		return fmt.Errorf("write ~/%s: %w", savedName, err)
	}
	_, err = temp.Write(append(raw, '\n'))
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write ~/%s: %w", savedName, errors.Join(err, os.Remove(temp.Name())))
	}
	return nil
}

// answerTime is as long as a server takes at most to answer: for a report of a million
// facts, a pull, the undo of a source.
const answerTime = 2 * time.Minute

// client makes the client of a command.
func (a *app) client(more ...client.Option) (*client.Client, error) {
	url, key := a.target()
	if url.value == "" {
		return nil, errNoURL
	}
	options := []client.Option{client.WithAgent("abagraph-cli/" + version), client.WithKey(key.value), client.WithTimeout(answerTime)}
	if a.tenant != "" {
		options = append(options, client.WithTenant(a.tenant))
	}
	c, err := client.New(url.value, append(options, more...)...)
	if err != nil {
		return nil, fmt.Errorf("%w (from %s)", err, url.from)
	}
	return c, nil
}
