package scrape

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"
	"time"

	"abagraph/fact"
	"abagraph/internal/outbound"
)

// Bounds of a robots.txt. What is longer is read up to here, as others do.
const (
	maxRobots  = 512 << 10
	robotsTime = 10 * time.Second
)

// robots are the rules of the sites that one fetch meets.
type robots struct {
	ctx   context.Context
	guard *outbound.Guard
	sites map[string]string // by scheme and host
}

// ask refuses what a site asks not to be fetched. A site without robots.txt asks for
// nothing; one that cannot be asked is not fetched.
func (r *robots) ask(u *url.URL) error {
	site := u.Scheme + "://" + u.Host
	rules, known := r.sites[site]
	if !known {
		var err error
		if rules, err = r.read(site); err != nil {
			return err
		}
		r.sites[site] = rules
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	if !allowed(rules, outbound.UserAgent, path) {
		return fact.Invalid("url", "is not to be fetched: robots.txt of the site asks not to")
	}
	return nil
}

func (r *robots) read(site string) (string, error) {
	answer, err := r.guard.Open(r.ctx, outbound.Request{URL: site + "/robots.txt", Limits: outbound.Limits{Bytes: maxRobots, Time: robotsTime}})
	if err != nil {
		return "", told("url", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	var failure *outbound.Failure
	if err != nil && (!errors.As(err, &failure) || failure.Kind != outbound.TooLarge) {
		return "", told("url", err)
	}
	switch {
	case answer.Status >= 500:
		return "", fact.Errorf(fact.Closed, "the site answered %d to robots.txt", answer.Status)
	case answer.Status == 200:
		return string(body), nil
	}
	return "", nil
}

// allowed tells whether robots.txt lets an agent of a name fetch a path: the group of
// its name counts, or else that of all; within it the longest rule, and of two the
// one that allows.
func allowed(robots, agent, path string) bool {
	rules, own := []string(nil), false
	var group []string // the agents of the group that is read
	open := false      // its agents may still be added to
	for line := range strings.Lines(strings.TrimPrefix(robots, "\ufeff")) {
		line, _, _ = strings.Cut(line, "#")
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch name {
		case "user-agent":
			if !open {
				group, open = nil, true
			}
			group = append(group, strings.ToLower(value))
		case "allow", "disallow":
			open = false
			for _, g := range group {
				mine := g == agent
				if mine && !own {
					rules, own = nil, true // what was said to all does not count any more
				}
				if mine || g == "*" && !own {
					rules = append(rules, name+" "+value)
				}
			}
		}
	}
	best, verdict := -1, true
	for _, rule := range rules {
		name, pattern, _ := strings.Cut(rule, " ")
		pattern = escaped(pattern)
		if pattern == "" || !matches(pattern, path) {
			continue
		}
		if n := len(pattern); n > best || n == best && name == "allow" {
			best, verdict = n, name == "allow"
		}
	}
	return verdict
}

// escaped writes a rule as paths are compared: with every byte beyond ASCII as %XX.
func escaped(pattern string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if c := pattern[i]; c >= 0x80 {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// matches compares a path with a rule: * stands for anything, $ for the end.
func matches(pattern, path string) bool {
	pattern, whole := strings.CutSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(path, parts[0]) {
		return false
	}
	rest := path[len(parts[0]):]
	for i, part := range parts[1:] {
		if whole && i == len(parts)-2 {
			return strings.HasSuffix(rest, part)
		}
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return !whole || rest == ""
}
