package watch

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/internal/outbound"
	"abagraph/internal/span"
	"abagraph/memory"
)

// SignatureHeader carries the HMAC of what a webhook is sent.
const SignatureHeader = "X-Abagraph-Signature"

// tellAll tells the webhooks of a tenant that have not taken their state, those first
// that were not told lately.
func (w *Watcher) tellAll(ctx context.Context, tenant string) {
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	untold, err := w.o.Memory.UntoldAlerts(ctx, tenant)
	if err != nil {
		w.failed(tenant, err)
		return
	}
	w.sortByWait(tenant, untold)
	var told sync.WaitGroup
	defer told.Wait()
	places := make(chan struct{}, telling)
	for i := range untold {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return
		}
		told.Go(func() {
			defer func() { <-places }()
			w.try(hook{tenant, untold[i].Name})
			w.tell(ctx, tenant, &untold[i])
		})
	}
}

func (w *Watcher) sortByWait(tenant string, list []memory.Alert) {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortStableFunc(list, func(a, b memory.Alert) int {
		return w.tried[hook{tenant, a.Name}].Compare(w.tried[hook{tenant, b.Name}])
	})
}

// try notes that a webhook is told now.
func (w *Watcher) try(h hook) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.tried) >= maxRemembered {
		clear(w.tried)
	}
	w.tried[h] = time.Now()
}

// tell sends an alert's state to its webhook, and notes that it was taken.
func (w *Watcher) tell(ctx context.Context, tenant string, a *memory.Alert) {
	ctx, cancel := context.WithTimeout(ctx, webhookTime)
	defer cancel()
	ctx, part := span.Work(ctx, w.o.Tracer, "work webhook")
	defer part.End()
	if err := w.send(ctx, tenant, a); err != nil {
		part.Fail(string(fact.CodeOf(err)))
		w.o.Logger.Warn("abagraph.alert.webhook_err", "tenant", tenant, "alert", a.Name, "error", err.Error())
		return
	}
	if err := w.o.Memory.MarkAlertTold(ctx, tenant, a); err != nil {
		w.failed(tenant, err)
	}
}

func (w *Watcher) send(ctx context.Context, tenant string, a *memory.Alert) error {
	address := a.Webhook
	if name, ref := strings.CutPrefix(address, "secret:"); ref {
		var err error
		if address, err = w.o.Memory.Secret(ctx, tenant, name); err != nil {
			return err
		}
	}
	q := outbound.Request{URL: address, Method: "POST", Body: message(tenant, a), Limits: outbound.Limits{Bytes: 64 << 10, Time: webhookTime}}
	q.Header = map[string]string{"Content-Type": "application/json", "X-Abagraph-Delivery": a.StateID()}
	if a.Secret != "" {
		key, err := w.o.Memory.Secret(ctx, tenant, a.Secret)
		if err != nil {
			return err
		}
		q.Header[SignatureHeader] = Sign(key, q.Body)
	}
	response, _, err := w.o.Guard.Fetch(ctx, q)
	if err != nil {
		return errors.New("the webhook cannot be told: " + outbound.Explain(ctx, err).Error())
	}
	if response.Status < 200 || response.Status > 299 {
		return fmt.Errorf("the webhook answered with status %d", response.Status)
	}
	return nil
}

// Sign returns the signature of a body: sha256= and the HMAC in hexadecimal digits.
func Sign(key string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// message is what a webhook is sent.
func message(tenant string, a *memory.Alert) []byte {
	b := jsonx.AppendString([]byte(`{"alert":`), a.Name)
	b = jsonx.AppendString(append(b, `,"tenant":`...), tenant)
	b = jsonx.AppendString(append(b, `,"kind":`...), a.Kind)
	b = jsonx.AppendString(append(b, `,"state":`...), a.State)
	b = append(b, `,"value":`...)
	if math.IsNaN(a.Value) {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendFloat(b, a.Value, 'f', -1, 64)
	}
	b = strconv.AppendFloat(append(b, `,"threshold":`...), a.Threshold, 'f', -1, 64)
	b = jsonx.AppendInstant(append(b, `,"since":`...), a.Since)
	b = jsonx.AppendString(append(b, `,"fact_id":`...), a.StateID())
	return append(b, '}')
}
