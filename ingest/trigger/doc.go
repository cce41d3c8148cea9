// Package trigger has connectors pulled by themselves: at the times of a schedule, or
// again and again for sources that tell by a cursor what has changed. A trigger is
// declared once, is seen with what became of its last run, and can be paused.
//
// A trigger and its state are facts about Trigger:<name>. The node that leads runs
// them; each time of a schedule is claimed in the log before its run, so that it runs
// once, whoever leads. It calls package memory like any other client, and the network
// only through package connect.
package trigger
