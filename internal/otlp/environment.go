package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// checkEnvironment refuses what the SDK would write to stderr in its own words, the
// value with it, and then go on without: a header that it cannot read may be a key. The
// errors name the variable, and never what it holds.
func checkEnvironment() error {
	for _, scope := range [...]string{"OTEL_EXPORTER_OTLP_", "OTEL_EXPORTER_OTLP_TRACES_"} {
		for _, one := range [...]struct {
			name  string
			check func(value string) string
		}{
			{"ENDPOINT", address}, {"HEADERS", headers}, {"TIMEOUT", milliseconds}, {"CERTIFICATE", certificates},
		} {
			if err := checkVariable(scope+one.name, one.check); err != nil {
				return err
			}
		}
		if err := checkPair(scope+"CLIENT_CERTIFICATE", scope+"CLIENT_KEY"); err != nil {
			return err
		}
	}
	if err := checkVariable("OTEL_RESOURCE_ATTRIBUTES", attributes); err != nil {
		return err
	}
	if err := checkVariable("OTEL_TRACES_SAMPLER", sampler); err != nil {
		return err
	}
	return checkVariable("OTEL_TRACES_SAMPLER_ARG", ratio)
}

// checkVariable judges a variable that is set: check says what it must be, "" = it is.
func checkVariable(name string, check func(value string) string) error {
	value := strings.TrimSpace(os.Getenv(name))
	if value == "" {
		return nil
	}
	if problem := check(value); problem != "" {
		return errors.New(name + " must be " + problem)
	}
	return nil
}

func address(value string) string {
	if _, err := url.Parse(value); err != nil {
		return "the address of a collector, such as http://127.0.0.1:4318"
	}
	return ""
}

func headers(value string) string {
	return pairs(value, func(name string) bool {
		return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
			return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
		})
	})
}

func attributes(value string) string { return pairs(value, func(string) bool { return true }) }

func pairs(value string, named func(name string) bool) string {
	for _, pair := range strings.Split(value, ",") {
		name, text, found := strings.Cut(pair, "=")
		if _, err := url.PathUnescape(text); !found || err != nil || !named(strings.TrimSpace(name)) {
			return "pairs such as name=value, with a comma between two and %2C for a comma within a value"
		}
	}
	return ""
}

func milliseconds(value string) string {
	if n, err := strconv.Atoi(value); err != nil || n < 0 {
		return "a whole number of milliseconds"
	}
	return ""
}

func certificates(file string) string {
	raw, err := os.ReadFile(file)
	if err != nil || !x509.NewCertPool().AppendCertsFromPEM(raw) {
		return "a file of certificates (PEM) that can be read"
	}
	return ""
}

func checkPair(certificate, key string) error {
	first, second := strings.TrimSpace(os.Getenv(certificate)), strings.TrimSpace(os.Getenv(key))
	if first == "" && second == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(first, second); err != nil {
		return errors.New(certificate + " and " + key + " must be files of a certificate and its key (PEM) that can be read")
	}
	return nil
}

func sampler(value string) string {
	known := []string{"always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"}
	if !slices.Contains(known, strings.ToLower(value)) {
		return "one of " + strings.Join(known, ", ")
	}
	return ""
}

func ratio(value string) string {
	if n, err := strconv.ParseFloat(value, 64); err != nil || !(n >= 0 && n <= 1) {
		return "a number from 0 to 1"
	}
	return ""
}
