package outbound

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// Setting is the environment variable of an operator's list; refusals name it.
const Setting = "ABAGRAPH_OUTBOUND_ALLOW"

// Options say what a Guard lets through.
type Options struct {
	// Allow opens hosts and addresses that would be refused: HOST, HOST:PORT, an IP
	// address with or without a port, or ADDRESS/BITS. An entry without a port
	// opens every port but the cluster's own.
	Allow []string
	// Own lists the addresses HOST:PORT that the cluster's nodes listen on; nil =
	// none. It is asked for each connection.
	Own func() []string
}

// Guard judges and makes connections. It is safe for concurrent use.
type Guard struct {
	allow     []opened
	own       func() []string
	dialer    net.Dialer
	transport *http.Transport
}

// New makes a Guard. It fails on an entry of the list that cannot be read.
func New(o Options) (*Guard, error) {
	allow, err := parseAllow(o.Allow)
	if err != nil {
		return nil, err
	}
	g := &Guard{allow: allow, own: o.Own, dialer: net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}}
	g.transport = &http.Transport{
		DialContext:            g.dial,
		TLSHandshakeTimeout:    5 * time.Second,
		MaxIdleConnsPerHost:    8,
		MaxIdleConns:           64,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
	}
	return g, nil
}

// Close closes connections that are kept for later.
func (g *Guard) Close() { g.transport.CloseIdleConnections() }

// Check judges a URL by its form, where it is registered or sent: without asking
// the net. What it lets pass is judged again when a connection is made. Its error
// is a *Failure of kind Refused.
func (g *Guard) Check(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return refused("is not a URL")
	}
	return g.check(u)
}

func (g *Guard) check(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return refused("must begin with https:// or http://")
	case u.User != nil:
		return refused("may hold no user or password")
	case u.Opaque != "" || u.Hostname() == "":
		return refused("names no host")
	}
	port, ok := portOf(u)
	if !ok {
		return refused("has a port that is none")
	}
	return g.checkHost(u.Hostname(), port)
}

// checkHost judges a host by its name, and an address that is written out.
func (g *Guard) checkHost(host string, port uint16) error {
	host = canonical(host)
	if a, err := netip.ParseAddr(host); err == nil {
		return g.checkAddr(host, a, port, nil)
	}
	if judge(g.allow, host, netip.Addr{}, port) != closed {
		return nil
	}
	switch {
	case endsInNumber(host), strings.ContainsFunc(host, disguised):
		return refused("spells its host in a way that is not read: write a name, or a whole IP address")
	case host == "localhost" || strings.HasSuffix(host, ".localhost"):
		return g.checkAddr(host, netip.AddrFrom4([4]byte{127, 0, 0, 1}), port, nil)
	case !strings.Contains(host, "."), strings.HasSuffix(host, ".local"), strings.HasSuffix(host, ".internal"):
		return private()
	case !usualPort(port):
		return unusual()
	}
	return nil
}

// checkAddr judges an address and a port that a connection would be made to. host
// is what the URL names.
func (g *Guard) checkAddr(host string, a netip.Addr, port uint16, find lookUp) error {
	a = plain(a)
	v := judge(g.allow, host, a, port)
	switch {
	case v == openPort:
		return nil
	case v == closed && !public(a): // before the ports, or they could be found out
		return private()
	case g.isOwn(host, a, port, find):
		return refused("leads to a port that this cluster listens on, which is refused: an operator opens it with its port in " + Setting)
	case v == open:
		return nil
	case !usualPort(port):
		return unusual()
	}
	return nil
}

// lookUp finds the addresses of a name; nil = the net is not asked.
type lookUp func(host string) []netip.Addr

// isOwn reports whether a node of the cluster listens there. A node that listens
// on all addresses is met at each of this machine's, and at every one that is not
// public.
func (g *Guard) isOwn(host string, a netip.Addr, port uint16, find lookUp) bool {
	if g.own == nil {
		return false
	}
	for _, address := range g.own() {
		node, text, err := net.SplitHostPort(address)
		if err != nil || text != strconv.Itoa(int(port)) {
			continue
		}
		if !public(a) || canonical(node) == host {
			return true
		}
		own, err := netip.ParseAddr(node)
		switch {
		case err == nil && (plain(own) == a || own.IsUnspecified() && isLocal(a)):
			return true
		case err != nil && find != nil && slices.ContainsFunc(find(node), func(b netip.Addr) bool { return plain(b) == a }):
			return true
		}
	}
	return false
}

func isLocal(a netip.Addr) bool {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	for _, one := range list {
		if n, ok := one.(*net.IPNet); ok {
			if own, ok := netip.AddrFromSlice(n.IP); ok && own.Unmap() == a {
				return true
			}
		}
	}
	return false
}

// dial connects to what a host resolves to, and judges each address right before
// the connection is made, so that no answer of a name server counts twice.
func (g *Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, refused("names no host")
	}
	host = canonical(host)
	d := g.dialer
	d.ControlContext = func(ctx context.Context, _, resolved string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(resolved)
		if err != nil {
			return refused("leads to no IP address")
		}
		return g.checkAddr(host, at.Addr(), at.Port(), func(node string) []netip.Addr {
			list, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", node) // a node without an address is nowhere
			return list
		})
	}
	return d.DialContext(ctx, network, address)
}

func portOf(u *url.URL) (uint16, bool) {
	text := u.Port()
	switch {
	case text == "" && strings.HasSuffix(u.Host, ":"):
		return 0, false
	case text == "" && u.Scheme == "https":
		return 443, true
	case text == "":
		return 80, true
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return uint16(n), err == nil && n > 0
}

// usualPort reports whether web servers are found there: the others below 1024
// belong to other protocols.
func usualPort(port uint16) bool { return port == 80 || port == 443 || port >= 1024 }

// disguised reports whether a letter of a host name may be turned into another
// one on its way to the resolver, such as a digit of full width into a digit.
func disguised(r rune) bool {
	return r > unicode.MaxASCII && (!unicode.IsLetter(r) && !unicode.IsMark(r) || r >= 0xff00 && r <= 0xffef || r >= 0x1d400 && r <= 0x1d7ff) ||
		r <= ' ' || r == '%' || r == '\\' || r == 0x7f
}
