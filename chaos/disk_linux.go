package chaos

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// Disk is a file system of its own, on a file, under the data of one node. It can
// lose its power, be full and be slow. It needs root.
type Disk struct {
	at     string // where it is mounted
	image  string
	device string // 7:0
	group  string // of control groups, for the speed

	mu  sync.Mutex
	pid int // of the process that uses it
}

func openDisk(at string, bytes int64) (_ *Disk, err error) {
	d := &Disk{at: at, image: at + ".image"}
	if err := os.MkdirAll(at, 0o700); err != nil {
		return nil, fmt.Errorf("make a disk: %w", err)
	}
	file, err := os.OpenFile(d.image, os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make a disk: %w", err)
	}
	if err := errors.Join(file.Truncate(bytes), file.Close()); err != nil {
		return nil, fmt.Errorf("make a disk: %w", err)
	}
	if err := command("mkfs.ext4", "-q", "-F", "-m", "0", d.image); err != nil {
		return nil, err
	}
	return d, d.mount()
}

func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

func (d *Disk) mount() error {
	if err := command("mount", "-o", "loop", d.image, d.at); err != nil {
		return err
	}
	var s syscall.Stat_t
	if err := syscall.Stat(d.at, &s); err != nil {
		return fmt.Errorf("look at a disk: %w", err)
	}
	// The numbers of a device, as the system packs them.
	d.device = fmt.Sprintf("%d:%d", s.Dev>>8&0xfff, s.Dev&0xff)
	return nil
}

// unmount waits for a process that was just killed to let go.
func (d *Disk) unmount() (err error) {
	for range 100 {
		if err = command("umount", d.at); err == nil {
			return nil
		}
		time.Sleep(pause)
	}
	return err
}

// goDown is the request of ext4 that drops everything that is not yet on the disk,
// the journal too, and goDownNow its argument.
const (
	goDown    = 0x8004587d
	goDownNow = 2
)

// PowerCut has the disk lose its power: what was not synced is gone, and whoever
// still uses it is told of a broken disk. The process is to be killed and PowerBack
// called before the next one starts.
func (d *Disk) PowerCut() error {
	root, err := os.Open(d.at)
	if err != nil {
		return fmt.Errorf("cut the power of a disk: %w", err)
	}
	defer root.Close()
	how := uint32(goDownNow)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, root.Fd(), goDown, uintptr(unsafe.Pointer(&how))); errno != 0 {
		return fmt.Errorf("cut the power of a disk: %w", errno)
	}
	return nil
}

// PowerBack has the disk come back as it was when the power went.
func (d *Disk) PowerBack() error {
	return errors.Join(d.unmount(), d.mount())
}

// Free is how many bytes fit onto the disk.
func (d *Disk) Free() (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.at, &s); err != nil {
		return 0, fmt.Errorf("measure a disk: %w", err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}

func (d *Disk) ballast() string { return filepath.Join(d.at, "ballast") }

// Fill takes all room on the disk but some bytes.
func (d *Disk) Fill(leave int64) error {
	free, err := d.Free()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("fill a disk: %w", err)
	}
	defer file.Close()
	if err := syscall.Fallocate(int(file.Fd()), 0, 0, max(free-leave, 1)); err != nil && !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("fill a disk: %w", err)
	}
	return nil
}

// Empty gives back what Fill took.
func (d *Disk) Empty() error {
	if err := os.Remove(d.ballast()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("make room on a disk: %w", err)
	}
	return nil
}

const groups = "/sys/fs/cgroup/blkio"

// Slow bounds how many writes a second the disk takes from the node's process; 0 = as
// many as it can.
func (d *Disk) Slow(writes int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.group == "" {
		d.group = filepath.Join(groups, "abagraph-chaos-"+strconv.Itoa(os.Getpid())+"-"+filepath.Base(d.at))
		if err := os.MkdirAll(d.group, 0o700); err != nil {
			return fmt.Errorf("slow a disk: %w", err)
		}
	}
	return d.limit(writes)
}

func (d *Disk) limit(writes int) error {
	for file, text := range map[string]string{
		"blkio.throttle.write_iops_device": d.device + " " + strconv.Itoa(writes), "cgroup.procs": strconv.Itoa(d.pid),
	} {
		if err := os.WriteFile(filepath.Join(d.group, file), []byte(text), 0o600); err != nil {
			return fmt.Errorf("slow a disk: %w", err)
		}
	}
	return nil
}

// user says which process uses the disk.
func (d *Disk) user(pid int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pid = pid
}

// Close unmounts the disk. The file stays.
func (d *Disk) Close() error {
	err := d.unmount()
	if d.group != "" {
		err = errors.Join(err, os.Remove(d.group))
	}
	return err
}
