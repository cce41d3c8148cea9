package load

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"errors"
	"io"
)

// The library that reads PDFs follows whatever a file says: page trees that lead
// back to themselves, arrays nested without end, streams that unpack to gigabytes.
// What follows refuses the plainest of that before the library sees it; what is left
// is bounded by the process in which it is read (package apart).

// Bounds of what a PDF may make the library do.
const (
	maxNesting  = 100_000   // far beyond what noise in pictures looks like, far below the stack
	maxStream   = 256 << 20 // bytes of one unpacked stream, pictures included
	maxStreams  = 1 << 30   // of all
	readsPerPDF = 16 << 20  // bytes read, beside many times the file's own
)

var (
	errNesting = errors.New("nested too deep")
	errPacked  = errors.New("unpacks to too much")
	errReads   = errors.New("read too often")
	errFilter  = errors.New("packed in a way that is not read")
)

// budgeted fails once a file has been read so much that something goes round in
// circles.
type budgeted struct {
	io.ReaderAt
	left int64
}

func (b *budgeted) ReadAt(p []byte, at int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errReads
	}
	return b.ReaderAt.ReadAt(p, at)
}

// checkPDF looks at a file without following it: how deep it is nested, in plain
// and in its packed streams, and what those unpack to.
func checkPDF(raw []byte) error {
	if err := (&nesting{}).scan(raw); err != nil {
		return err
	}
	if hiddenFilter(raw) {
		return errFilter
	}
	total := int64(0)
	for rest := raw; ; {
		at := bytes.Index(rest, []byte("stream"))
		if at < 0 {
			return nil
		}
		rest = bytes.TrimLeft(rest[at+len("stream"):], "\r\n ")
		n, err := checkStream(rest)
		if total += n; err != nil || total > maxStreams {
			return cmp.Or(err, errPacked)
		}
	}
}

// checkStream unpacks what may be a packed stream, and throws it away.
func checkStream(b []byte) (int64, error) {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return 0, nil // it is none
	}
	depth := &nesting{}
	buf := make([]byte, 32<<10)
	total := int64(0)
	for {
		n, err := z.Read(buf)
		if total += int64(n); total > maxStream {
			return total, errPacked
		}
		if problem := depth.scan(buf[:n]); problem != nil {
			return total, problem
		}
		if err != nil {
			return total, nil
		}
	}
}

// nesting counts open brackets.
type nesting struct{ depth int }

func (n *nesting) scan(b []byte) error {
	for _, c := range b {
		switch c {
		case '[', '<':
			if n.depth++; n.depth > maxNesting {
				return errNesting
			}
		case ']', '>':
			n.depth = max(0, n.depth-1)
		}
	}
	return nil
}

// hiddenFilter reports whether any name in the file, with its escapes undone, is
// that of a filter which would hide a stream from checkStream.
func hiddenFilter(raw []byte) bool {
	for rest := raw; ; {
		at := bytes.IndexByte(rest, '/')
		if at < 0 {
			return false
		}
		rest = rest[at+1:]
		switch name(rest) {
		case "ASCII85Decode", "A85", "ASCIIHexDecode", "AHx", "LZWDecode", "LZW", "RunLengthDecode", "RL":
			return true
		}
	}
}

func name(b []byte) string {
	var out []byte
	for i := 0; i < len(b) && len(out) < 20; i++ {
		c := b[i]
		if c == '#' && i+2 < len(b) {
			c = unhex(b[i+1])<<4 | unhex(b[i+2])
			i += 2
		} else if c <= ' ' || bytes.IndexByte([]byte("/[]<>(){}%"), c) >= 0 {
			break
		}
		out = append(out, c)
	}
	return string(out)
}

func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 0
}
