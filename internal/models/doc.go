// Package models asks language models with the caller's own key.
//
// It owns the two wire formats (anthropic, openai), the schema that an answer is
// bound to, the time and size of a call, how often it is tried again, and how
// many calls of one tenant run at a time. Every call goes through package
// outbound. What an endpoint says in an error is told to nobody, since it may
// echo the key: its status is, and a word for it where it is one.
//
// It keeps no key, no text and no answer, and starts no goroutine.
package models
