package fact

import (
	"crypto/sha256"
	"encoding/hex"
)

// MaxBlobPart is the most bytes of one piece of a blob.
const MaxBlobPart = 512 << 10

// BlobPart is a piece of a blob: of a document, kept under the SHA-256 of the whole
// of it and read by facts whose object refers to it (C-3). A piece
// has at most MaxBlobPart bytes, and ends with a whole character.
type BlobPart struct {
	Hash [sha256.Size]byte
	Part uint32 // 0 is the first
	Data []byte
}

// BlobHash parses the hash of a reference to a blob.
func BlobHash(text string) (hash [sha256.Size]byte, ok bool) {
	n, err := hex.Decode(hash[:], []byte(text))
	return hash, err == nil && n == len(hash)
}

// What stands for a text that is kept: an entity that is named after its hash, and
// the fact of it that refers to the text.
const (
	DocumentKind    = "Document:"
	DocumentContent = "content"
)

// DocumentOf names the entity that stands for the text of a hash.
func DocumentOf(hash [sha256.Size]byte) string { return DocumentKind + hex.EncodeToString(hash[:8]) }
