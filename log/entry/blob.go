package entry

import "abagraph/fact"

// blobs writes the pieces of blobs that come with a write.
func (w *writer) blobs(b *fact.Write) {
	if len(b.Blobs) == 0 {
		return
	}
	w.byte(sectionBlobs)
	w.uint(uint64(len(b.Blobs)))
	for i := range b.Blobs {
		w.raw(b.Blobs[i].Hash[:])
		w.uint(uint64(b.Blobs[i].Part))
		w.bytes(b.Blobs[i].Data)
	}
}

func (r *reader) blobs(b *fact.Write) {
	if b.Blobs != nil {
		r.fail("blobs that come twice")
		return
	}
	for n := r.length(); n > 0 && r.err == nil; n-- {
		p := fact.BlobPart{Hash: r.hash()}
		part := r.uint()
		p.Part, p.Data = uint32(part), r.bytes()
		if r.err == nil && (part > 1<<32-1 || len(p.Data) == 0 || len(p.Data) > fact.MaxBlobPart) {
			r.fail("bad piece of a blob")
		}
		b.Blobs = append(b.Blobs, p)
	}
}
