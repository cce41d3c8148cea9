// Package collector is a collector of traces for tests: it speaks OTLP over HTTP, and
// shows what it was sent.
package collector
