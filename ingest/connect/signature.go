package connect

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"abagraph/fact"
)

// Scheme says what is signed, and where the signature stands.
type Scheme uint8

// The schemes: GitHub's X-Hub-Signature-256 over the body, and that of Standard
// Webhooks over id, time and body.
const (
	GitHub Scheme = iota
	Standard
)

var schemeNames = [...]string{"github", "standard"}

// Headers of the schemes.
const (
	HeaderGitHub       = "X-Hub-Signature-256"
	HeaderGitHubID     = "X-GitHub-Delivery"
	HeaderStandard     = "Webhook-Signature"
	HeaderStandardID   = "Webhook-Id"
	HeaderStandardTime = "Webhook-Timestamp"
)

// maxSkew is how far the time of a signed delivery may be from now.
const maxSkew = 5 * time.Minute

// standardPrefix stands before a secret of Standard Webhooks, which is base64.
const standardPrefix = "whsec_"

// Verify refuses a delivery whose signature is not that of the connector's secret.
// header returns a header of the delivery. The error says nothing of the secret.
func (s *Service) Verify(ctx context.Context, k *Connector, header func(name string) string, body []byte, now time.Time) error {
	if k.Signature == nil {
		return nil
	}
	if s.secret == nil {
		return fact.Errorf(fact.NotFound, "no secret: %s", k.Signature.Secret)
	}
	secret, err := s.secret(ctx, k.Tenant(), k.Signature.Secret)
	if err != nil {
		return err
	}
	good := false
	if k.Signature.Scheme == Standard {
		good, err = standard(secret, header, body, now)
	} else {
		good, err = github(secret, header, body)
	}
	switch {
	case err != nil:
		return err
	case !good:
		return fact.Errorf(fact.Forbidden, "the signature does not match")
	}
	return nil
}

func github(secret string, header func(string) string, body []byte) (bool, error) {
	text, ok := strings.CutPrefix(header(HeaderGitHub), "sha256=")
	if !ok {
		return false, unsigned(HeaderGitHub)
	}
	given, err := hex.DecodeString(text)
	if err != nil {
		return false, nil
	}
	return hmac.Equal(given, sum([]byte(secret), body)), nil
}

func unsigned(name string) error {
	return fact.Errorf(fact.Forbidden, "the delivery is not signed: its header %s is missing", name)
}

func standard(secret string, header func(string) string, body []byte, now time.Time) (bool, error) {
	id, at := header(HeaderStandardID), header(HeaderStandardTime)
	for _, name := range [...]string{HeaderStandard, HeaderStandardID, HeaderStandardTime} {
		if header(name) == "" {
			return false, unsigned(name)
		}
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return false, fact.Errorf(fact.Forbidden, "%s is no time in seconds", HeaderStandardTime)
	}
	if skew := now.Sub(time.Unix(seconds, 0)); skew > maxSkew || skew < -maxSkew {
		return false, fact.Errorf(fact.Forbidden, "the delivery was signed more than 5 minutes from now")
	}
	key := []byte(secret)
	if text, ok := strings.CutPrefix(secret, standardPrefix); ok {
		if key, err = base64.StdEncoding.DecodeString(text); err != nil {
			return false, fact.Errorf(fact.NotFound, "the secret of the connector is not base64 after %s", standardPrefix)
		}
	}
	if len(key) == 0 {
		return false, fact.Errorf(fact.NotFound, "the secret of the connector is empty after %s", standardPrefix)
	}
	want := sum(key, []byte(id+"."+at+"."), body)
	for _, one := range strings.Fields(header(HeaderStandard)) {
		text, ok := strings.CutPrefix(one, "v1,")
		if !ok {
			continue
		}
		if given, err := base64.StdEncoding.DecodeString(text); err == nil && subtle.ConstantTimeCompare(given, want) == 1 {
			return true, nil
		}
	}
	return false, nil
}

func sum(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// DeliveryID names a delivery, so that it counts once however often it comes; ""
// where it has no name.
func (k *Connector) DeliveryID(header func(name string) string) string {
	if k.Signature == nil {
		return ""
	}
	if k.Signature.Scheme == Standard {
		return header(HeaderStandardID)
	}
	return header(HeaderGitHubID)
}
