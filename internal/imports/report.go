package imports

// Report counts what became of a file. Rows = Written + Duplicates + Refused +
// Skipped, and Retractions = Retracted + RetractionsSkipped, where an import
// ran to its end.
type Report struct {
	Rows       int `json:"rows"`
	Written    int `json:"written"`
	Duplicates int `json:"duplicates"` // they stood already (C-10)
	Refused    int `json:"refused"`
	Skipped    int `json:"skipped"`
	// Retractions are those that the rows ask for.
	Retractions        int    `json:"retractions"`
	Retracted          int    `json:"retracted"`
	RetractionsSkipped int    `json:"retractions_skipped"`
	Batches            int    `json:"batches"`
	Tx                 uint64 `json:"tx"` // the last one that was written
}

// Complete reports whether the counts add up.
func (r *Report) Complete() bool {
	return r.Rows == r.Written+r.Duplicates+r.Refused+r.Skipped && r.Retractions == r.Retracted+r.RetractionsSkipped
}

// tally is what became of one batch.
type tally struct {
	Written    int       `json:"written,omitempty"`
	Duplicates int       `json:"duplicates,omitempty"`
	Retracted  int       `json:"retracted,omitempty"`
	Refused    []refused `json:"refused,omitempty"`
	// IDs are the ids of rows that are to be retracted later, by row.
	IDs map[uint32]string `json:"ids,omitempty"`
	// Last is the id of a fact of the batch, to know the store by.
	Last string `json:"last,omitempty"`
	Tx   uint64 `json:"tx,omitempty"`
}

type refused struct {
	Row        uint32 `json:"row"`
	Reason     string `json:"reason"`
	Retraction bool   `json:"retraction,omitempty"`
}

func (r *Report) add(t *tally) {
	r.Written += t.Written
	r.Duplicates += t.Duplicates
	r.Retracted += t.Retracted
	r.Tx = max(r.Tx, t.Tx)
	for _, one := range t.Refused {
		if one.Retraction {
			r.RetractionsSkipped++
		} else {
			r.Refused++
		}
	}
}
