// Package schedule is when something is due that comes again and again: a cron
// expression of five fields, or such as @hourly and @every 15m, in a zone.
package schedule
