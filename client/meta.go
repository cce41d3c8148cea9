package client

import (
	"net/http"
	"strconv"
	"time"

	"abagraph/fact"
)

// Meta is what the headers of an answer tell.
type Meta struct {
	Status int
	// Tx is the tx that the answer was read at, or that the write took (C-26).
	Tx uint64
	// Now is the instant that "live" meant, or fact.NoInstant (C-20).
	Now fact.Instant
	// Epoch is the store's epoch; a restored backup starts a new one (C-35).
	Epoch string
	// Backfilled counts the rows that are there by a declaration (C-28).
	Backfilled int
	// Warnings are hints such as a time that looks like seconds (C-1).
	Warnings []string
}

func newMeta(status int, header http.Header) Meta {
	m := Meta{Status: status, Now: fact.NoInstant, Epoch: header.Get("X-Abagraph-Epoch"), Warnings: header.Values("X-Abagraph-Warning")}
	m.Tx, _ = strconv.ParseUint(header.Get("X-Abagraph-Tx"), 10, 64) // absent where nobody was authenticated
	m.Backfilled, _ = strconv.Atoi(header.Get("X-Abagraph-Backfilled"))
	if now, err := strconv.ParseInt(header.Get("X-Abagraph-Now"), 10, 64); err == nil {
		m.Now = fact.Instant(now)
	}
	return m
}

func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.Atoi(header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, time.Minute)
}
