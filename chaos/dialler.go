package chaos

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// diallerOf finds which of some processes made a connection to this one, by the
// system's own books: nodes name one address to all others, so that the address
// does not tell who comes. It returns 0 where none of them did, or did and is
// gone. It needs Linux.
func diallerOf(conn net.Conn, pids []int) (int, error) {
	inode, err := socketInode(conn.RemoteAddr(), conn.LocalAddr())
	if err != nil || inode == "" {
		return 0, err
	}
	link := "socket:[" + inode + "]"
	for _, pid := range pids {
		files, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fd/*")
		if err != nil {
			return 0, fmt.Errorf("look for the files of a node: %w", err)
		}
		for _, file := range files {
			if target, err := os.Readlink(file); err == nil && target == link {
				return pid, nil
			}
		}
	}
	return 0, nil
}

// socketInode finds the inode of the socket with these two addresses, or "".
func socketInode(local, remote net.Addr) (string, error) {
	here, err := bookAddress(local)
	if err != nil {
		return "", err
	}
	there, err := bookAddress(remote)
	if err != nil {
		return "", err
	}
	file, err := os.Open("/proc/net/tcp")
	if err != nil {
		return "", fmt.Errorf("look up who has dialled, for which Linux is needed: %w", err)
	}
	defer file.Close()
	const localField, remoteField, inodeField = 1, 2, 9
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > inodeField && fields[localField] == here && fields[remoteField] == there {
			return fields[inodeField], nil
		}
	}
	return "", nil
}

// bookAddress writes an IPv4 address as /proc/net/tcp does: the bytes of the
// address in the machine's order, which is little-endian wherever this runs.
func bookAddress(address net.Addr) (string, error) {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || tcp.IP.To4() == nil {
		return "", fmt.Errorf("look up who has dialled: %s is not an IPv4 address", address)
	}
	ip := tcp.IP.To4()
	return fmt.Sprintf("%02X%02X%02X%02X:%04X", ip[3], ip[2], ip[1], ip[0], tcp.Port), nil
}
