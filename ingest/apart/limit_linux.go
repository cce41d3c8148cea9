package apart

import "syscall"

// limit has the system end the process where one single step takes too much.
func limit() {
	const rlimitData = 2
	for resource, most := range map[int]uint64{rlimitData: maxMemory, syscall.RLIMIT_CPU: cpuTime, syscall.RLIMIT_CORE: 0} {
		_ = syscall.Setrlimit(resource, &syscall.Rlimit{Cur: most, Max: most}) // watch is there, too
	}
}
