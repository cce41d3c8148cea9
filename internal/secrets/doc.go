// Package secrets reads what a secret reference names: a variable of the process's
// environment (env:NAME) or a file (file:/path).
//
// References are kept and shown, values never: a value is read when it is used,
// given to who uses it, and forgotten. No error of this package holds one.
//
// The server's own settings are out of reach, so that nobody can have the admin
// key sent somewhere as if it were a secret of theirs.
package secrets
