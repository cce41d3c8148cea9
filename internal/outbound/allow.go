package outbound

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// opened is one entry of an operator's list.
type opened struct {
	host   string       // a name; "" = an address
	prefix netip.Prefix // where host is ""
	port   uint16       // 0 = any port but the cluster's own
}

// parseAllow reads HOST, HOST:PORT, ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT and
// ADDRESS/BITS.
func parseAllow(list []string) ([]opened, error) {
	var all []opened
	for _, text := range list {
		one, err := parseOpened(text)
		if err != nil {
			return nil, fmt.Errorf("%q opens nothing: %w", text, err)
		}
		all = append(all, one)
	}
	return all, nil
}

func parseOpened(text string) (opened, error) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return opened{prefix: p.Masked()}, nil
	}
	host, port := text, uint16(0)
	if _, err := netip.ParseAddr(text); err != nil {
		if h, p, err := net.SplitHostPort(text); err == nil {
			n, err := strconv.ParseUint(p, 10, 16)
			if err != nil || n == 0 {
				return opened{}, fmt.Errorf("its port must be from 1 to 65535")
			}
			host, port = h, uint16(n)
		}
	}
	host = strings.Trim(host, "[]")
	if a, err := netip.ParseAddr(host); err == nil {
		a = plain(a)
		return opened{prefix: netip.PrefixFrom(a, a.BitLen()), port: port}, nil
	}
	host = canonical(host)
	if host == "" || strings.ContainsAny(host, "/:@?#* ") || endsInNumber(host) {
		return opened{}, fmt.Errorf("it must be HOST, HOST:PORT, an IP address or a range of them as ADDRESS/BITS")
	}
	return opened{host: host, port: port}, nil
}

// verdict is what a list says of an address: nothing, that it is open, or that
// its very port is.
type verdict int

const (
	closed verdict = iota
	open
	openPort
)

func judge(list []opened, host string, a netip.Addr, port uint16) (v verdict) {
	for _, o := range list {
		named := o.host != "" && o.host == host || o.host == "" && a.IsValid() && o.prefix.Contains(a)
		switch {
		case named && o.port == port:
			return openPort
		case named && o.port == 0:
			v = open
		}
	}
	return v
}

// canonical is a host in the form in which it is compared.
func canonical(host string) string { return strings.TrimRight(strings.ToLower(host), ".") }

// endsInNumber reports whether a host is an IPv4 address in some spelling, as
// browsers and the system's resolver judge it: its last label is a number.
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return false
	}
	if digits, hex := strings.CutPrefix(last, "0x"); hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}
