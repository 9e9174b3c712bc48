// Clocks, and what the process has used.
package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// Numbers of clock_gettime(2).
const (
	cpuOfProcess = 2
	cpuOfThread  = 3
)

func cpuNs(clock uintptr) uint64 {
	var now syscall.Timespec
	// Fails for no clock that this kernel has.
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&now)), 0)
	return uint64(now.Nano())
}

// cost is a phase's wall-clock and CPU nanoseconds.
type cost struct {
	Wall uint64 `json:"wall_ns"`
	CPU  uint64 `json:"cpu_ns"`
}

type stopwatch struct {
	clock uintptr
	cpu   uint64
	wall  time.Time
}

func start(clock uintptr) stopwatch {
	return stopwatch{clock: clock, cpu: cpuNs(clock), wall: time.Now()}
}

func (s stopwatch) stop() cost {
	wall := time.Since(s.wall)
	return cost{Wall: uint64(wall.Nanoseconds()), CPU: cpuNs(s.clock) - s.cpu}
}

// statusBytes is a line "Name:   123 kB" of /proc/self/status, in bytes.
func statusBytes(name string) uint64 {
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == name+":" {
			kibibytes, _ := strconv.ParseUint(fields[1], 10, 64)
			return kibibytes * 1024
		}
	}
	return 0
}

func processMetrics(codeBytes uint64) map[string]uint64 {
	metrics := map[string]uint64{
		"rss_peak_bytes": statusBytes("VmHWM"),
		"virtual_bytes":  statusBytes("VmPeak"),
		"code_bytes":     codeBytes,
	}
	for name, value := range metrics {
		if value == 0 {
			delete(metrics, name)
		}
	}
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) == nil {
		metrics["faults_minor"] = uint64(usage.Minflt)
		metrics["faults_major"] = uint64(usage.Majflt)
		metrics["ctx_voluntary"] = uint64(usage.Nvcsw)
		metrics["ctx_involuntary"] = uint64(usage.Nivcsw)
	}
	return metrics
}
