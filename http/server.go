package http

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"abagraph/ingest/connect"
	"abagraph/ingest/trigger"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// Time limits of a connection. A stream sets its own for writing.
const (
	idleTimeout  = 2 * time.Minute
	writeTimeout = 2 * time.Minute
)

// Server serves one node. Make it with NewServer, then Listen, Serve and
// Shutdown, in this order.
type Server struct {
	config     Config
	echo       *echo.Echo
	options    echo.HandlerFunc // of every path
	inner      *http.Server
	listener   *connections // nil before Listen
	uploads    *semaphore.Weighted
	metrics    *metrics
	connectors *connect.Service
	triggers   *trigger.Service
	loopback   bool

	streams  *streams
	answers  *answers
	mcpCalls chan struct{} // a place for each message that is being answered

	closing   context.Context
	close     context.CancelFunc
	calls     sync.Pool
	signups   *rate.Limiter
	described func() (*self, error) // what the server says of itself
}

// NewServer checks a configuration and lays out the routes. It refuses to be
// reachable from other machines without a key (C-41).
func NewServer(config Config) (*Server, error) {
	if err := config.complete(); err != nil {
		return nil, err
	}
	s := &Server{config: config, uploads: semaphore.NewWeighted(int64(config.MaxUploads)), loopback: config.onLoopback()}
	if s.connectors = config.Connect; s.connectors == nil {
		var err error
		if s.connectors, err = connect.New(connect.Options{Memory: config.Memory, Logger: config.Logger}); err != nil {
			return nil, err
		}
	}
	if s.triggers = config.Triggers; s.triggers == nil {
		var err error
		if s.triggers, err = trigger.New(trigger.Options{Memory: config.Memory, Connect: s.connectors, Logger: config.Logger}); err != nil {
			return nil, err
		}
	}
	s.closing, s.close = context.WithCancel(context.Background())
	s.streams = newStreams(min(config.MaxStreams, max(1, config.MaxConnections/2)), config.TenantStreams)
	s.answers = newAnswers(config.MaxSending)
	s.mcpCalls = make(chan struct{}, maxMCPCalls)
	s.calls.New = func() any { return new(call) }
	s.signups = rate.NewLimiter(signupsPerSecond, signupsAtOnce)
	s.described = sync.OnceValues(s.describe)
	var err error
	if s.metrics, err = newMetrics(config.Registry, s); err != nil {
		s.close()
		return nil, err
	}
	s.echo = echo.New()
	s.routes()
	s.inner = &http.Server{
		Handler:           s.Handler(),
		ConnState:         turned,
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ReadHeaderTimeout: DefaultHeaderTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(connectionErrors{config.Logger.Handler()}, slog.LevelWarn),
	}
	return s, nil
}

// Handler returns the server's handler, for a listener of another's.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.dispatch) }

// Listen takes the address. It is separate from Serve so that a port that is
// taken is told before anything else starts.
func (s *Server) Listen() error {
	l, err := net.Listen("tcp", s.config.Bind)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", s.config.Bind, err)
	}
	s.listener = newConnections(l, s.config.MaxConnections, s.config.Logger)
	return nil
}

// Addr is the address that is listened on, after Listen.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve answers requests until Shutdown. It returns nil after that.
func (s *Server) Serve() error {
	s.config.Logger.Info("abagraph.server.start", "bind", s.Addr().String(), "auth_enabled", s.config.Memory.AuthEnabled(),
		"max_body_bytes", s.config.MaxBodyBytes, "max_concurrent_uploads", s.config.MaxUploads, "version", s.config.Version)
	if err := s.inner.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve on %s: %w", s.config.Bind, err)
	}
	return nil
}

// Shutdown ends the streams, lets the requests that run finish, and closes the
// listener. What has not finished when the context ends is cut off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.close()
	if s.listener != nil {
		s.listener.closeSilent()
	}
	err := s.inner.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("finish the running requests: %w", err), s.inner.Close())
	}
	if s.listener != nil { // it is closed already if it was served
		if closing := s.listener.Close(); closing != nil && !errors.Is(closing, net.ErrClosed) {
			err = errors.Join(err, closing)
		}
	}
	return err
}

// connectionErrors gives what the standard library says of a connection the
// name of an event.
type connectionErrors struct{ slog.Handler }

func (h connectionErrors) Handle(ctx context.Context, r slog.Record) error {
	event := slog.NewRecord(r.Time, r.Level, "abagraph.server.connection_error", r.PC)
	event.AddAttrs(slog.String("error", r.Message))
	return h.Handler.Handle(ctx, event)
}
