package chaos

import (
	"os/exec"
	"runtime"
	"syscall"
)

// tie has the system kill a process when the thread that starts it ends, and so
// when this program does. The thread is kept until the returned function.
func tie(command *exec.Cmd) func() {
	runtime.LockOSThread()
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return runtime.UnlockOSThread
}
