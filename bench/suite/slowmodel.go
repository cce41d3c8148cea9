package suite

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"

	"abagraph/bench/load"
	"abagraph/bench/node"
	"abagraph/bench/report"
	"abagraph/bench/rest"
)

// Sizes of the run beside a model that hangs.
const (
	hangingDigests = 8
	besideClients  = 16
)

// tarpit takes connections and never answers, as a model that hangs does.
type tarpit struct {
	listener net.Listener
	taken    chan struct{} // one for each connection
	mu       sync.Mutex
	conns    []net.Conn
}

func newTarpit() (*tarpit, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening as a model: %w", err)
	}
	t := &tarpit{listener: listener, taken: make(chan struct{}, hangingDigests)}
	go t.accept()
	return t, nil
}

func (t *tarpit) accept() {
	for {
		conn, err := t.listener.Accept()
		if err != nil {
			return
		}
		t.mu.Lock()
		t.conns = append(t.conns, conn)
		t.mu.Unlock()
		select {
		case t.taken <- struct{}{}:
		default:
		}
	}
}

func (t *tarpit) close() {
	t.listener.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, conn := range t.conns {
		conn.Close()
	}
}

// slowModel measures one tenant's writes alone and while another tenant's digests
// wait for a model that hangs, in turns.
func slowModel(ctx context.Context, env Env, s *report.Section) error {
	var alone, beside []load.Sample
	for range env.Rounds {
		for _, hang := range []bool{false, true} {
			sample, err := writesBeside(ctx, env, hang)
			if err != nil {
				return err
			}
			if hang {
				beside = append(beside, sample)
			} else {
				alone = append(alone, sample)
			}
		}
	}
	name := counted(besideClients, "client") + " that write one fact a request"
	s.Tables = append(s.Tables, report.Table{
		Title: fmt.Sprintf("one tenant's writes beside %d digests of another tenant that wait for a model", hangingDigests),
		Head:  []string{"", "writes a second", "p99"},
		Rows: [][]string{
			{name + ", alone", thousands(rateOf(alone)), short(latency(alone, p99))},
			{name + ", beside them", thousands(rateOf(beside)), short(latency(beside, p99))},
		}})
	s.Goals = append(s.Goals, least("writes beside a model that hangs, against alone", 0.9, rateOf(beside)/rateOf(alone), times))
	return nil
}

// writesBeside loads a fresh node for one run.
func writesBeside(ctx context.Context, env Env, hang bool) (load.Sample, error) {
	pit, err := newTarpit()
	if err != nil {
		return load.Sample{}, err
	}
	defer pit.close()
	cluster, err := node.Start(ctx, env.Server, env.Dir+fmt.Sprintf("/slow-%p", pit), 1, "ABAGRAPH_OUTBOUND_ALLOW=127.0.0.1")
	if err != nil {
		return load.Sample{}, err
	}
	defer cluster.Stop()
	address, err := cluster.Leader(ctx)
	if err != nil {
		return load.Sample{}, err
	}
	ops, closer, err := post(address, valueSize)(besideClients)
	if err != nil {
		return load.Sample{}, err
	}
	defer closer()
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer pit.close() // first: it ends the calls that are waited for
	if hang {
		for range hangingDigests {
			waiting.Go(func() { hangingDigest(address, pit.listener.Addr().String()) })
		}
		// The model client lets a few calls of one tenant run at a time.
		for range 2 {
			select {
			case <-pit.taken:
			case <-ctx.Done():
				return load.Sample{}, ctx.Err()
			}
		}
	}
	return system{name: "writes", processes: cluster.Processes()}.measure(ctx, ops, env.Length)
}

// hangingDigest asks for a digest by a model that never answers; its own answer is
// of no interest.
func hangingDigest(address, model string) {
	conn, err := rest.Dial(address)
	if err != nil {
		return
	}
	defer conn.Close()
	const body = `{"content":"Ann works at Acme.","extract_model":MODEL,"judge_model":MODEL}`
	with := `{"provider":"openai","model":"slow","key":"none","endpoint":"http://` + model + `/v1"}`
	_, _, _ = conn.Do("POST", "/api/digest?tenant=slow", []byte(strings.ReplaceAll(body, "MODEL", with)))
}
