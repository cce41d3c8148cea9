package entry_test

import (
	"bytes"
	"reflect"
	"testing"

	"abagraph/fact"
	"abagraph/log/entry"
)

// TestBlobsRoundTrip sends pieces of a blob through their bytes, and refuses what
// is none.
func TestBlobsRoundTrip(t *testing.T) {
	sent := &fact.Request{Branch: fact.MainBranch, Write: &fact.Write{Blobs: []fact.BlobPart{
		{Hash: [32]byte{1}, Part: 0, Data: bytes.Repeat([]byte("a"), fact.MaxBlobPart)}, {Hash: [32]byte{1}, Part: 1, Data: []byte("b")},
	}}}
	raw := entry.EncodeRequest(sent)
	got, err := entry.DecodeRequest(raw)
	if err != nil || !reflect.DeepEqual(got, sent) {
		t.Fatalf("came back as %+v, %v", got, err)
	}
	if _, err := entry.DecodeRequest(raw[:len(raw)-1]); err == nil {
		t.Error("a cut piece is read")
	}
	for _, data := range [][]byte{nil, make([]byte, fact.MaxBlobPart+1)} {
		sent.Write.Blobs = []fact.BlobPart{{Data: data}}
		if _, err := entry.DecodeRequest(entry.EncodeRequest(sent)); err == nil {
			t.Errorf("a piece of %d bytes is read", len(data))
		}
	}
}
