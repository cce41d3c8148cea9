package mask

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"
)

// Mode says what stands in place of what was found.
type Mode uint8

// The modes: what the node is set to, where a request names none; a fixed word; a
// short hash that is the same for the same value of one tenant; dates moved by a
// number of days that is fixed for a tenant; nothing is masked.
const (
	Unsaid Mode = iota // a Masker takes it for Redact
	Redact
	Hash
	ShiftDate
	Off
)

// ParseMode reads the mode that a request names. What it does not know is Redact,
// and known is false.
func ParseMode(text string) (mode Mode, known bool) {
	switch strings.ToLower(text) {
	case "redact":
		return Redact, true
	case "hash", "hash_sha256":
		return Hash, true
	case "shift_date":
		return ShiftDate, true
	}
	return Redact, false
}

// Redacted stands for what is not to be seen.
const Redacted = "[REDACTED]"

// Masker masks for one tenant.
type Masker struct {
	Mode   Mode
	Tenant string
	// Key makes the hashes and the days of a tenant secret: without it, whoever
	// knows the tenant's name can try values until one fits. Every node of a
	// cluster needs the same one.
	Key string
	// Regions are countries whose numbers are looked for with spaces alone.
	Regions Regions
}

// Again is the mode in which a text that was masked already goes through the masking
// of writes: nothing is hashed or moved twice.
func (m *Masker) Again() Mode {
	if m.Mode == Off {
		return Off
	}
	return Redact
}

// replace returns what stands for a value.
func (m *Masker) replace(value string) string {
	if m.Mode != Hash {
		return Redacted
	}
	sum := m.sum(value)
	return "sha256:" + hex.EncodeToString(sum[:6])
}

// sum hashes a value under the tenant's name, so that one value has another hash
// in each tenant.
func (m *Masker) sum(value string) [sha256.Size]byte {
	h := hmac.New(sha256.New, []byte("abagraph mask "+m.Tenant+"\x00"+m.Key))
	h.Write([]byte(value))
	return [sha256.Size]byte(h.Sum(nil))
}

// Fingerprint tells whether two keys are the same, and nothing else of them that could
// not be found by trying keys.
func Fingerprint(key string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte("abagraph mask key"))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

const isoDate = "2006-01-02"

// shift moves a date by the tenant's days: 1 to 365, forth or back, so that
// intervals stay.
func (m *Masker) shift(date string) (string, bool) {
	t, err := time.Parse(isoDate, date)
	if err != nil {
		return date, false
	}
	sum := m.sum("days")
	days := 1 + int(binary.BigEndian.Uint32(sum[:])%365)
	if sum[4]%2 == 0 {
		days = -days
	}
	return t.AddDate(0, 0, days).Format(isoDate), true
}
