package scrape

import "strings"

// allowed tells whether robots.txt lets an agent of a name fetch a path: the group of
// its name counts, or else that of all; within it the longest rule, and of two the
// one that allows.
func allowed(robots, agent, path string) bool {
	rules, own := []string(nil), false
	var group []string // the agents of the group that is read
	open := false      // its agents may still be added to
	for line := range strings.Lines(robots) {
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
		if pattern == "" || !matches(pattern, path) {
			continue
		}
		if n := len(pattern); n > best || n == best && name == "allow" {
			best, verdict = n, name == "allow"
		}
	}
	return verdict
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
