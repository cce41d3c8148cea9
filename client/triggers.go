package client

import "net/url"

// Trigger has a connector pulled by itself.
type Trigger struct {
	Name      string      `json:"name"`
	Connector string      `json:"connector"`
	Kind      string      `json:"kind"` // schedule or change
	Schedule  string      `json:"schedule"`
	Timezone  string      `json:"timezone"`
	EverySecs int64       `json:"every_secs"`
	Paused    bool        `json:"paused"`
	Next      *int64      `json:"next"`
	Last      *TriggerRun `json:"last"`
	Hints     []string    `json:"warnings"`
}

// TriggerRun is what became of a trigger's last run.
type TriggerRun struct {
	Slot     *int64  `json:"slot"`
	Outcome  *string `json:"outcome"` // running, ok, unchanged or failed
	Problem  *string `json:"problem"`
	Records  int     `json:"records"`
	Asserted int     `json:"asserted"`
	Skipped  int     `json:"skipped"`
	Attempts int     `json:"attempts,omitempty"` // where it was begun more than once
	Since    *int64  `json:"since"`
}

// NewTrigger is a trigger to declare: just one of Schedule and EverySecs is set.
type NewTrigger struct {
	Name      string `json:"name"`
	Connector string `json:"connector"`
	Schedule  string `json:"schedule,omitempty"`
	Timezone  string `json:"timezone,omitempty"`
	EverySecs int64  `json:"every_secs,omitempty"`
	Paused    bool   `json:"paused,omitempty"`
}

// TriggersPath is where triggers are declared and listed.
const TriggersPath = "/api/triggers"

// TriggerPath is the path of a trigger.
func TriggerPath(name string) string { return TriggersPath + "/" + url.PathEscape(name) }
