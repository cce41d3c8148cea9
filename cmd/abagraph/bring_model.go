package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"abagraph/client"
)

// broughtModel is the model that a command brings along. Its key comes from the
// environment: a command line can be read by every program of the machine.
type broughtModel struct {
	provider, name, endpoint, keyFrom string
}

func (m *broughtModel) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&m.name, "model", "", "model to ask, such as gpt-4o-mini")
	flags.StringVar(&m.provider, "provider", "", "wire format of the model: anthropic (the default) or openai")
	flags.StringVar(&m.endpoint, "endpoint", "", "base URL of the model (default: the provider's own)")
	flags.StringVar(&m.keyFrom, "model-key-env", "ABAGRAPH_MODEL_KEY", "environment variable that holds the model's key")
}

// body is the model as requests carry it; nil where none is named.
func (m *broughtModel) body(getenv func(string) string) (map[string]string, error) {
	if m.name == "" {
		if m.provider != "" || m.endpoint != "" {
			return nil, errors.New("--provider and --endpoint need --model")
		}
		return nil, nil
	}
	key := getenv(m.keyFrom)
	if key == "" {
		return nil, fmt.Errorf("the model needs a key: set %s, or name another variable with --model-key-env", m.keyFrom)
	}
	body := map[string]string{"model": m.name, "key": key}
	if m.provider != "" {
		body["provider"] = m.provider
	}
	if m.endpoint != "" {
		body["endpoint"] = m.endpoint
	}
	return body, nil
}

// patiently sends a call that waits for models. It is sent once: the server itself
// asks models again where that may help.
func (a *app) patiently(c *cobra.Command, call client.Call, show func(*table, []byte) error) error {
	to, err := a.client(client.WithTimeout(modelTimeout))
	if err != nil {
		return err
	}
	defer to.Close()
	call.Once = true
	got, err := to.Do(c.Context(), call)
	if err != nil {
		return a.explainDenial(err)
	}
	return a.answer(got, show)
}

func encoded(body any) ([]byte, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	return raw, nil
}
