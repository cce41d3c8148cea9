package outbound

import "net/netip"

// special are the ranges that are no public host's, beside those that package
// netip knows. Of IPv6 only 2000::/3 is public at all.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"168.63.129.16/32", // the metadata and DNS address of one cloud, public by its form only
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

var (
	publicV6   = netip.MustParsePrefix("2000::/3")
	translated = netip.MustParsePrefix("64:ff9b::/96") // an IPv4 address behind a translator
)

func prefixes(list ...string) []netip.Prefix {
	parsed := make([]netip.Prefix, len(list))
	for i, text := range list {
		parsed[i] = netip.MustParsePrefix(text)
	}
	return parsed
}

// plain takes an address out of its wrappings: an IPv4 address that is written as
// an IPv6 one is that IPv4 address.
func plain(a netip.Addr) netip.Addr {
	a = a.WithZone("").Unmap()
	if translated.Contains(a) {
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}

// public reports whether anyone on the internet may own the address.
func public(a netip.Addr) bool {
	a = plain(a)
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Is6() && !publicV6.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
