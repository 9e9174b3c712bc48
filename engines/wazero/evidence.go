// What is really in force, observed instead of believed.
//
// Checks: a load from just behind a memory. The addresses there belong to the
// process and can be read, as its list of mappings shows; so the load would have
// succeeded, and what stopped it is a comparison.
//
// Tier: machine code is in memory that can be executed and comes from no file.
// After a function has run there is some, or there is none.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"unsafe"

	"github.com/tetratelabs/wazero"
)

// (module (memory (export "m") 1) (func (export "f") (param i32) (result i32)
//
//	(i32.load (local.get 0))))
var tiny = []byte{
	0, 'a', 's', 'm', 1, 0, 0, 0, 1, 6, 1, 0x60, 1, 0x7f, 1, 0x7f, 3, 2, 1, 0, 5, 3, 1, 0, 1,
	7, 9, 2, 1, 'm', 2, 0, 1, 'f', 0, 0, 10, 9, 1, 7, 0, 0x20, 0, 0x28, 2, 0, 0x0b,
}

const pageBytes = 1 << 16

// Memories to look behind, before giving up: one may end where the heap does.
const triesMax = 16

// mapping is a line of /proc/self/maps (proc_pid_maps(5)).
type mapping struct {
	from, to uint64
	rights   string
	inode    uint64
	name     string
}

func mappings() []mapping {
	maps, _ := os.ReadFile("/proc/self/maps")
	var all []mapping
	for _, line := range strings.Split(string(maps), "\n") {
		var one mapping
		var offset, device string
		found, _ := fmt.Sscanf(line, "%x-%x %s %s %s %d %s", &one.from, &one.to, &one.rights, &offset, &device, &one.inode, &one.name)
		if found >= 6 {
			all = append(all, one)
		}
	}
	return all
}

// madeCodeBytes is how much memory can be executed and comes from no file, but
// for the kernel's own ("[vdso]").
func madeCodeBytes() uint64 {
	var bytes uint64
	for _, one := range mappings() {
		if strings.Contains(one.rights, "x") && one.inode == 0 && !strings.HasPrefix(one.name, "[v") {
			bytes += one.to - one.from
		}
	}
	return bytes
}

func isReadable(address uint64) bool {
	for _, one := range mappings() {
		if one.from <= address && address < one.to {
			return strings.HasPrefix(one.rights, "r")
		}
	}
	return false
}

// observeChecks is the kind of check, and how that is known.
func observeChecks(runtime wazero.Runtime) (string, string) {
	module, err := runtime.CompileModule(background, tiny)
	if err != nil {
		return "unknown", fmt.Sprintf("the module to find out with does not compile: %v", err)
	}
	for range triesMax {
		instance, err := runtime.InstantiateModule(background, module, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			return "unknown", fmt.Sprintf("the module to find out with does not start: %v", err)
		}
		load := instance.ExportedFunction("f")
		if _, err := load.Call(background, 0); err != nil {
			return "unknown", fmt.Sprintf("the module to find out with does not run: %v", err)
		}
		bytes, _ := instance.Memory().Read(0, pageBytes)
		behind := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(bytes)))) + pageBytes
		if !isReadable(behind) || !isReadable(behind+3) {
			continue
		}
		if _, err := load.Call(background, pageBytes); err == nil {
			return "none", "a load past the end did not trap"
		}
		return "explicit", "a load past the end trapped although that address is readable"
	}
	return "unknown", "what is behind a memory cannot be read, so a comparison cannot be told from a fault"
}

// tierOf is the tier, and how that is known. A function must have run.
func tierOf(backend string) (string, string) {
	code := madeCodeBytes()
	shown := fmt.Sprintf("a function ran and %d KiB of memory became executable", code/1024)
	switch {
	case backend == "interpreter" && code == 0:
		return "interpreter", "a function ran and no memory of the process became executable"
	case backend == "compiler" && code > 0:
		return "optimising", shown + "; this version has one compiler"
	}
	return "unknown", shown
}

// version is that of the module which was linked in.
func version() string {
	if build, found := debug.ReadBuildInfo(); found {
		for _, module := range build.Deps {
			if module.Path == "github.com/tetratelabs/wazero" {
				return strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	return "unknown"
}

func hello(runtime wazero.Runtime, backend string) event {
	checks, seen := observeChecks(runtime)
	tier, shown := tierOf(backend)
	return event{
		"event": "hello", "engine": "wazero", "version": version(), "backend": backend,
		"tier": tier, "checks": checks, "evidence": shown + "; " + seen,
	}
}
