package otlp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"regexp"
	"strings"
)

// status is where the SDK's error tells the status of an answer.
var status = regexp.MustCompile(`^traces export: failed to send to .*?: ([0-9]{3})\b`)

// told is an error of the SDK in words of our own. Its text holds what the collector
// said, which may be what it was sent, the collector's key too, and megabytes of it.
func told(err error) string {
	var network *net.OpError
	var untrusted *tls.CertificateVerificationError
	text := err.Error()
	answered := status.FindStringSubmatch(text)
	switch {
	case errors.Is(err, errElsewhere):
		return errElsewhere.Error()
	case errors.As(err, &untrusted):
		return untrusted.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.As(err, &network) && network.Timeout():
		return "the collector did not answer in time"
	case network != nil:
		return network.Error()
	case answered != nil:
		return "the collector answered with status " + answered[1]
	case strings.Contains(text, "retry-able request failure"):
		return "the collector answered with status 429, 502, 503 or 504 again and again"
	case strings.Contains(text, "response body too large"):
		return "the collector's answer is too long"
	case strings.Contains(text, "OTLP partial success"):
		return "the collector did not take all spans"
	}
	return "the collector cannot be reached, or does not speak OTLP over HTTP"
}
