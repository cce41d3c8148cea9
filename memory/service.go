package memory

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"abagraph/fact"
	"abagraph/internal/words"
	"abagraph/memory/mask"
	"abagraph/memory/search"
)

// DefaultTimeout bounds the waiting of one read or write.
const DefaultTimeout = 10 * time.Second

// DefaultTenant is where reads and writes go while no key is configured (C-41).
const DefaultTenant = "default"

// Options are what a Service needs. Engine and View are required.
type Options struct {
	Engine Engine
	// View opens a consistent state of this node's store, with all that was answered
	// on this node: it may have to wait for that, until the context ends.
	View func(ctx context.Context) (View, error)
	// Live answers live reads from memory where it can, and tells where the
	// node stood; ok is false where a View must be asked. nil = always.
	Live func(q *fact.Query) (page *fact.Page, at fact.Position, ok bool)
	// Leads tells whether this node leads the cluster and has applied all that
	// was committed before it led. Without it, a write by a tenant's key waits
	// until this node knows of every revoked key.
	Leads func() bool
	// Unlike says in which setting this node differs from the one that leads, so that
	// it should take no requests, or ""; nil = nobody asks.
	Unlike func() string
	// RegistryVersion is a number that changes with every change to the tenants
	// and keys that this node has applied. Without it, the tx stands in.
	RegistryVersion func() uint64
	// PolicyVersion is a number that changes with every change to the facts of a
	// policy that this node has applied. Without it, the tx stands in.
	PolicyVersion func() uint64
	// Cluster reports on this node and its cluster; nil = nothing is known.
	Cluster func() Cluster
	// Operations is what an operator may do to the node; nil = nothing.
	Operations Operations
	// AdminKey is the operator's key; "" turns auth off (C-41).
	AdminKey string
	// SecondAdminKey is a second operator's; where it is given, what destroys data
	// needs both.
	SecondAdminKey string
	// Threshold is the confidence below which a fact is a candidate (C-7);
	// nil = fact.DefaultThreshold.
	Threshold *float64
	// Embedder makes the vectors of facts and questions (C-54); nil = none does.
	Embedder Embedder
	// EmbedTimeout bounds what one write or search waits for vectors; 0 =
	// DefaultEmbedTimeout.
	EmbedTimeout time.Duration
	// Embedding is the configured provider's name, for those who ask.
	Embedding string
	// Mask is what stands in place of personal data in writes that name nothing
	// else; the zero value is mask.Redact. MaskKey makes hashes of it secret:
	// every node of a cluster needs the same one.
	Mask        mask.Mode
	MaskKey     string
	MaskRegions mask.Regions
	// MayCall refuses an address that this node may not call, by its form; nil = none
	// is refused where it is set, but only where it is called.
	MayCall func(url string) error
	// Models asks the language models that callers bring along; nil = none is asked.
	Models Models
	// Timeout bounds the waiting of one read or write; 0 = DefaultTimeout.
	Timeout time.Duration
	// Words is the table of word vectors that search uses; nil = none.
	Words *words.Table
	// SearchBytes is about how much memory the indexes of search may take; 0 =
	// search.DefaultBytes.
	SearchBytes int64
	// Limits are what one tenant may ask of this node.
	Limits Limits
	// Now reads the clock from which ids take their time; nil = time.Now.
	Now func() time.Time
}

// Service is the door. It is safe for concurrent use.
type Service struct {
	engine     Engine
	views      func(context.Context) (View, error)
	live       func(*fact.Query) (*fact.Page, fact.Position, bool)
	leads      func() bool
	unlike     func() string
	version    func() uint64
	cluster    func() Cluster
	operations Operations
	mayCall    func(url string) error
	adminHash  [sha256.Size]byte
	auth       bool
	threshold  float64
	timeout    time.Duration
	now        func() time.Time
	ids        ids
	keys       keyCache
	whole      *gate // reads that look at everything
	heavy      *gate
	requests   *buckets // nil = no limit
	rows       *buckets // nil = no limit
	refused    refusals
	verifying  chan struct{} // held while the store is checked
	links      int           // edges that a look at the graph keeps in mind
	words      *words.Table
	indexes    *search.Indexes
	embed      embedding
	tokens     counter
	models     Models
	masking    mask.Masker
	policies   policyCache
	secondHash [sha256.Size]byte
	twoAdmins  bool

	policyVersion func() uint64
}

// New makes a Service.
func New(o Options) (*Service, error) {
	if o.Engine == nil || o.View == nil {
		return nil, errors.New("memory: an engine and a view are required")
	}
	s := &Service{
		engine: o.Engine, views: o.View, live: o.Live, leads: o.Leads, unlike: o.Unlike, version: o.RegistryVersion, cluster: o.Cluster,
		operations: o.Operations, mayCall: o.MayCall,
		auth: o.AdminKey != "", threshold: fact.DefaultThreshold, timeout: o.Timeout, now: o.Now, links: maxKeptLinks,
	}
	s.limit(o.Limits)
	s.verifying = make(chan struct{}, 1)
	s.words, s.indexes = o.Words, search.NewIndexes(o.SearchBytes, s.source)
	if o.SecondAdminKey != "" && (o.AdminKey == "" || o.AdminKey == o.SecondAdminKey) {
		return nil, errors.New("memory: a second admin key needs a first one that is another")
	}
	if s.auth {
		s.adminHash = sha256.Sum256([]byte(o.AdminKey))
		s.secondHash, s.twoAdmins = sha256.Sum256([]byte(o.SecondAdminKey)), o.SecondAdminKey != ""
	}
	if o.Threshold != nil {
		s.threshold = *o.Threshold
	}
	if !(s.threshold >= 0 && s.threshold <= 1) {
		return nil, fmt.Errorf("memory: the candidate threshold must be from 0 to 1, not %v", s.threshold)
	}
	if s.timeout <= 0 {
		s.timeout = DefaultTimeout
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.masking = mask.Masker{Mode: o.Mask, Key: o.MaskKey, Regions: o.MaskRegions}
	s.embed.set(o)
	s.models = o.Models
	if s.version == nil {
		s.version = func() uint64 { return o.Engine.Position().Tx }
	}
	if s.policyVersion = o.PolicyVersion; s.policyVersion == nil {
		s.policyVersion = func() uint64 { return o.Engine.Position().Tx + 1 }
	}
	if s.live == nil {
		s.live = func(*fact.Query) (*fact.Page, fact.Position, bool) { return nil, fact.Position{}, false }
	}
	if s.unlike == nil {
		s.unlike = func() string { return "" }
	}
	if s.leads == nil {
		s.leads = func() bool { return false }
	}
	return s, nil
}

// Close ends what the service does by itself: the building of search indexes. It
// must be called before the engine is closed.
func (s *Service) Close() { s.indexes.Close() }

// view opens a view, and waits for it no longer than a read may.
func (s *Service) view(ctx context.Context) (View, error) {
	ctx, cancel := within(ctx, s.timeout)
	defer cancel()
	view, err := s.views(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fact.Errorf(fact.Timeout, "this node's store did not take what was written in the time allowed; nothing was read")
	}
	return view, err
}

// Position is where this node stands, without asking anyone.
func (s *Service) Position() fact.Position { return s.engine.Position() }
