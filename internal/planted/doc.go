// Package planted names bugs that are built in on purpose, each by a build tag, so
// that package chaos can be seen to find them. Without such a tag Bug is None, a
// constant, and the compiler leaves out whatever asks for another one. It holds
// nothing else, and no program that anybody uses is built with one of its tags.
package planted

// The bugs.
const (
	None = ""
	// SkipSync (tag plant_sync): the log answers before it is on the disk.
	SkipSync = "sync"
	// StaleLeader (tag plant_leader): who leads, or once led, answers reads without
	// asking whether it still does.
	StaleLeader = "leader"
	// ApplyTwice (tag plant_twice): what was applied before is applied again.
	ApplyTwice = "twice"
	// ForgetTenant (tag plant_tenant): reads do not look at whose facts they are.
	ForgetTenant = "tenant"
)
