package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"abagraph/client"
	"abagraph/fact"
)

// read sends a read and writes its answer.
func (a *app) read(ctx context.Context, path string, query url.Values, explain bool, show func(*table, []byte) error) error {
	return a.call(ctx, client.Call{Method: "GET", Path: path, Query: query}, explain, show)
}

// write sends a write and writes its answer.
func (a *app) write(ctx context.Context, call client.Call, branch string, explain bool, show func(*table, []byte) error) error {
	return a.writeWith(ctx, call, branch, explain, func(url.Values) {}, show)
}

// writeWith is write with parameters of its own.
func (a *app) writeWith(ctx context.Context, call client.Call, branch string, explain bool, set func(url.Values), show func(*table, []byte) error) error {
	call.Query = url.Values{}
	if branch != "" {
		call.Query.Set("branch", branch)
	}
	set(call.Query)
	return a.call(ctx, call, explain, show)
}

// brief says an answer in a line, and what of it is written below that.
type brief func(raw []byte) (line string, below []byte, err error)

// briefly is call for the commands that say their answer in a line before its JSON,
// which is there alone with --json.
func (a *app) briefly(ctx context.Context, call client.Call, explain bool, show func(*table, []byte) error, say brief) error {
	if a.readable() || a.json || explain {
		return a.call(ctx, call, explain, show)
	}
	got, err := a.ask(ctx, call)
	if err != nil {
		return err
	}
	a.warn(got.Warnings)
	line, below, err := say(got.Body)
	if err != nil {
		return fmt.Errorf("show the answer: %w", err)
	}
	if _, err := fmt.Fprintln(a.out, line); err != nil {
		return err
	}
	return writeJSON(a.out, below)
}

func (a *app) ask(ctx context.Context, call client.Call) (*client.Answer, error) {
	c, err := a.client()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	got, err := c.Do(ctx, call)
	if err != nil {
		return nil, a.explainDenial(err)
	}
	return got, nil
}

func (a *app) call(ctx context.Context, call client.Call, explain bool, show func(*table, []byte) error) error {
	if explain {
		call.Query.Set("explain", "1")
		show = nil
	}
	got, err := a.ask(ctx, call)
	if err != nil {
		return err
	}
	pending := client.PendingIn(got)
	if pending == nil {
		return a.answer(got, show)
	}
	if err := a.answer(got, approvalTable); err != nil {
		return err
	}
	return pending // nothing was done
}

// explainDenial adds to the one answer that tells nothing: without a key, a
// route that needs one does not exist (C-42).
func (a *app) explainDenial(err error) error {
	var e *client.Error
	if _, key := a.target(); errors.As(err, &e) && e.Code == fact.NotFound && e.Message == "not found" && key.value == "" {
		e.Message += " (no key is set: if the server wants one, give --key or ABAGRAPH_KEY)"
	}
	return err
}
