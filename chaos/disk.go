package chaos

import "os"

// CanMount reports whether this process can give nodes disks of their own: on Linux,
// as root, with loop devices and ext4.
func CanMount() bool {
	dir, err := os.MkdirTemp("", "abagraph-disk-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	d, err := openDisk(dir+"/try", 8<<20)
	return err == nil && d.Close() == nil
}
