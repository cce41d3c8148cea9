package suite

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"abagraph/bench/load"
	"abagraph/bench/node"
	"abagraph/bench/proc"
	"abagraph/bench/report"
	"abagraph/bench/rest"
)

const ingestText = `What sources bring, on one node: masked, indexed and on disk before it is answered. A digest carries %d ready statements; a delivery
to a connector %d records of JSON Lines with two fields each, which become two facts. Every tenth statement or record holds an e-mail address. The
long delivery is one request of %s lines, one fact each, sent as it is made.`

// Sizes of what is delivered.
const (
	digestSize   = 500 // statements in one digest: the most there may be
	deliverySize = 500 // records in one delivery
	longLines    = 1_000_000
)

// connectorName is the connector that the deliveries go to.
const connectorName = "bench_events"

// ingest measures digests and deliveries.
func ingest(ctx context.Context, env Env) (report.Section, error) {
	lines := longLines
	if env.Quick {
		lines /= 50
	} else {
		env.Clients = []int{1, 4}
	}
	s := report.Section{
		Title: "Digests and deliveries",
		Text:  fmt.Sprintf(ingestText, digestSize, deliverySize, thousands(float64(lines))),
	}
	cluster, err := node.Start(ctx, env.Server, env.Dir, 1)
	if err != nil {
		return s, err
	}
	defer cluster.Stop()
	address, err := cluster.Leader(ctx)
	if err != nil {
		return s, err
	}
	if err := registerConnector(address); err != nil {
		return s, err
	}
	systems := []system{
		{name: "digest in facts mode", open: digestOps(address), processes: cluster.Processes()},
		{name: "connector events", open: deliveryOps(address), processes: cluster.Processes()},
	}
	all, err := contest(ctx, env, systems)
	if err != nil {
		return s, err
	}
	t := tables(all, systems, "facts")
	s.Tables = append(t[:1:1], t[2:]...) // the two are no contest
	for _, one := range systems {
		s.Goals = append(s.Goals, least(one.name+", at its best number of clients", 15_000, best(all, one), perSecond))
	}
	if err := longDelivery(ctx, env, cluster, address, lines, &s); err != nil {
		return s, err
	}
	return s, slowModel(ctx, env, &s)
}

// registerConnector registers the connector with a mapping of two fields.
func registerConnector(address string) error {
	conn, err := rest.Dial(address)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = expect(conn, "POST", "/api/connectors", []byte(`{"name":"`+connectorName+`","mapping":{"subject":"Event:$id","fields":["note","amount"]}}`))
	return err
}

// digestOps makes clients that digest statements about subjects that are new.
func digestOps(address string) func(clients int) ([]load.Op, func(), error) {
	return func(clients int) ([]load.Op, func(), error) {
		return conns(address, clients, func(client int, conn *rest.Conn) load.Op {
			w := newWriter(client)
			return func(context.Context) (int, error) {
				w.buffer = append(w.buffer[:0], `{"facts":[`...)
				for i := range digestSize {
					if i > 0 {
						w.buffer = append(w.buffer, ',')
					}
					number := eventNumber.Add(1)
					w.buffer = append(w.buffer, `{"subject":"Bench:d`...)
					w.buffer = strconv.AppendUint(w.buffer, number/factsASubject, 10)
					w.buffer = append(w.buffer, `","predicate":"attribute_`...)
					w.buffer = strconv.AppendUint(w.buffer, number%factsASubject, 10)
					w.buffer = append(w.note(append(w.buffer, `","object":"`...), number), `"}`...)
				}
				w.buffer = append(w.buffer, `]}`...)
				_, err := expect(conn, "POST", "/api/digest", w.buffer)
				return digestSize, err
			}
		})
	}
}

// deliveryOps makes clients that deliver records that are new.
func deliveryOps(address string) func(clients int) ([]load.Op, func(), error) {
	return func(clients int) ([]load.Op, func(), error) {
		return conns(address, clients, func(client int, conn *rest.Conn) load.Op {
			w := newWriter(client)
			return func(context.Context) (int, error) {
				w.buffer = w.buffer[:0]
				for range deliverySize {
					number := eventNumber.Add(1)
					w.buffer = append(w.buffer, `{"id":"d`...)
					w.buffer = strconv.AppendUint(w.buffer, number, 10)
					w.buffer = w.note(append(w.buffer, `","note":"`...), number)
					w.buffer = append(w.buffer, `","amount":`...)
					w.buffer = strconv.AppendUint(w.buffer, number%1_000, 10)
					w.buffer = append(w.buffer, "}\n"...)
				}
				_, err := expect(conn, "POST", "/api/connectors/"+connectorName+"/events", w.buffer)
				return 2 * deliverySize, err
			}
		})
	}
}

// eventNumber makes every statement and record of a run another one.
var eventNumber atomic.Uint64

// note appends a text of about a hundred bytes, with an address in every tenth.
func (w *writer) note(dst []byte, number uint64) []byte {
	if number%10 == 0 {
		dst = append(dst, "reply to person"...)
		dst = strconv.AppendUint(dst, number, 10)
		dst = append(dst, "@example.com about "...)
	}
	return w.pad(dst, 100)
}

// longDelivery sends one request of many lines, and tells what it took.
func longDelivery(ctx context.Context, env Env, cluster *node.Cluster, address string, lines int, s *report.Section) error {
	before, err := proc.MemoryOf(cluster.Processes()[0])
	if err != nil {
		return err
	}
	env.progress("delivering %s lines in one request", thousands(float64(lines)))
	body, sent := io.Pipe()
	go func() { sent.CloseWithError(writeEvents(sent, lines)) }()
	began := time.Now()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/api/connectors/"+connectorName+"/events", body)
	if err != nil {
		return fmt.Errorf("delivering: %w", err)
	}
	request.Header.Set("Content-Type", "application/x-ndjson")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("delivering %d lines: %w", lines, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("reading what became of %d lines: %w", lines, err)
	}
	took := time.Since(began)
	var receipt struct{ Records, Asserted, Skipped int }
	if err := json.Unmarshal(text, &receipt); err != nil || answer.StatusCode != http.StatusOK || receipt.Asserted != lines {
		return fmt.Errorf("a delivery of %d lines answers %d: %.300s", lines, answer.StatusCode, text)
	}
	after, err := proc.MemoryOf(cluster.Processes()[0])
	if err != nil {
		return err
	}
	rate := float64(lines) / took.Seconds()
	s.Tables = append(s.Tables, report.Table{Title: "one delivery of " + thousands(float64(lines)) + " lines", Head: []string{"", "figure"}, Rows: [][]string{
		{"facts a second", thousands(rate)},
		{"resident memory before it", asMebibytes(float64(before.Resident))},
		{"resident memory, most", asMebibytes(float64(after.Peak))},
	}})
	s.Goals = append(s.Goals,
		least("one long delivery", 15_000, rate, perSecond),
		most("resident memory, at most", 1.5*(1<<30), float64(after.Peak), asMebibytes))
	return nil
}

// writeEvents writes lines of one field each.
func writeEvents(to io.Writer, lines int) error {
	out, w := bufio.NewWriterSize(to, 64<<10), newWriter(0)
	for i := range lines {
		w.buffer = append(w.buffer[:0], `{"id":"l`...)
		w.buffer = strconv.AppendInt(w.buffer, int64(i), 10)
		w.buffer = append(w.note(append(w.buffer, `","note":"`...), uint64(i)), "\"}\n"...)
		if _, err := out.Write(w.buffer); err != nil {
			return fmt.Errorf("sending line %d: %w", i, err)
		}
	}
	return out.Flush()
}
