package peer

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// SQLite is a store of facts as one would build it on SQLite: a row a fact, the
// indexes that the same questions need, and a write that closes the current row
// and inserts the new one in one durable transaction.
type SQLite struct {
	db     *sql.DB
	closes *sql.Stmt
	insert *sql.Stmt
}

const schema = `
CREATE TABLE fact (
	id TEXT PRIMARY KEY, subject TEXT NOT NULL, predicate TEXT NOT NULL, object TEXT NOT NULL,
	valid_from INTEGER NOT NULL, valid_until INTEGER, recorded_at INTEGER NOT NULL,
	confidence REAL NOT NULL, source TEXT, status TEXT NOT NULL, tx INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX fact_current ON fact (subject, predicate, status);
CREATE INDEX fact_predicate ON fact (predicate);
CREATE INDEX fact_object ON fact (object);
CREATE INDEX fact_tx ON fact (tx);`

// OpenSQLite makes an empty store. One connection writes: SQLite has one writer
// at a time, and waiting for the connection is cheaper than for its lock.
func OpenSQLite(dir string) (*SQLite, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "sqlite.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=cache_size(-65536)&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("opening SQLite: %w", err)
	}
	db.SetMaxOpenConns(1)
	s := &SQLite{db: db}
	if err := s.prepare(); err != nil {
		db.Close()
		return nil, err
	}
	return s, nil
}

func (s *SQLite) prepare() (err error) {
	if _, err = s.db.Exec(schema); err != nil {
		return fmt.Errorf("making the tables of SQLite: %w", err)
	}
	for text, into := range map[string]**sql.Stmt{
		`UPDATE fact SET status = 'superseded', valid_until = ?, tx = ? WHERE subject = ? AND predicate = ? AND status = 'active'`: &s.closes,
		`INSERT INTO fact VALUES (?, ?, ?, ?, ?, NULL, ?, 1.0, 'bench', 'active', ?)`:                                              &s.insert,
	} {
		if *into, err = s.db.Prepare(text); err != nil {
			return fmt.Errorf("preparing for SQLite: %w", err)
		}
	}
	return nil
}

// Supersede closes the current fact of a subject and predicate and inserts the
// new one, in one durable transaction.
func (s *SQLite) Supersede(ctx context.Context, id, subject, predicate, object string, tx int64) error {
	t, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("SQLite begin: %w", err)
	}
	defer t.Rollback() //nolint:errcheck // after a commit there is nothing left to roll back
	now := time.Now().UnixMilli()
	if _, err := t.StmtContext(ctx, s.closes).ExecContext(ctx, now, tx, subject, predicate); err != nil {
		return fmt.Errorf("SQLite update: %w", err)
	}
	if _, err := t.StmtContext(ctx, s.insert).ExecContext(ctx, id, subject, predicate, object, now, now, tx); err != nil {
		return fmt.Errorf("SQLite insert: %w", err)
	}
	if err := t.Commit(); err != nil {
		return fmt.Errorf("SQLite commit: %w", err)
	}
	return nil
}

// Close closes the store.
func (s *SQLite) Close() error { return s.db.Close() }
