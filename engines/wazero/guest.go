// Measured threads. Each is pinned to its CPU and makes, runs and drops an
// instance again and again, with a WASI of its own each time.
//
// All threads are warm before the first counted iteration, and all go on with
// uncounted ones until the last has its counted ones, so that each counted
// iteration meets the same company. Instances in a row, of modules that import
// nothing, have no files and no WASI.
package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

type crew struct {
	runtime  wazero.Runtime
	module   wazero.CompiledModule
	asked    *request
	warm     sync.WaitGroup
	finished atomic.Int64
}

func measure(runtime wazero.Runtime, module wazero.CompiledModule, asked *request) {
	if _, found := module.ExportedFunctions()["_start"]; !found {
		fail("link", "the module has no function _start")
	}
	all := &crew{runtime: runtime, module: module, asked: asked}
	all.warm.Add(asked.Threads)
	var done sync.WaitGroup
	for thread := range asked.Threads {
		done.Go(func() { all.work(thread) })
	}
	done.Wait()
}

func (c *crew) work(thread int) {
	// For good: the thread ends with the goroutine.
	runtime.LockOSThread()
	if len(c.asked.CPUs) > 0 {
		pin(thread, c.asked.CPUs[thread%len(c.asked.CPUs)])
	}
	index := 0
	iterate := func(counted bool) {
		c.iterate(thread, index, counted)
		index++
	}
	for range c.asked.Warmup {
		iterate(false)
	}
	c.warm.Done()
	c.warm.Wait()
	for range c.asked.Iterations {
		iterate(true)
	}
	c.finished.Add(1)
	for c.finished.Load() < int64(c.asked.Threads) {
		iterate(false)
	}
}

func pin(thread, cpu int) {
	var set [1024 / 8]byte
	if cpu < 0 || cpu >= len(set)*8 {
		fail("unsupported", "cannot pin thread %d to CPU %d: no such CPU", thread, cpu)
	}
	set[cpu/8] = 1 << (cpu % 8)
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, uintptr(len(set)), uintptr(unsafe.Pointer(&set)))
	if errno != 0 {
		fail("unsupported", "cannot pin thread %d to CPU %d: %v", thread, cpu, errno)
	}
}

// streams are the files one iteration reads and writes.
type streams struct{ stdin, stdout, stderr *os.File }

func (c *crew) openStreams(thread, index int) streams {
	created := func(what string) *os.File {
		file, err := os.Create(filepath.Join(c.asked.Scratch, fmt.Sprintf("%s.%d.%d", what, thread, index)))
		if err != nil {
			fail("io", "%v", err)
		}
		return file
	}
	path := os.DevNull
	if c.asked.Stdin != nil {
		path = *c.asked.Stdin
	}
	stdin, err := os.Open(path)
	if err != nil {
		fail("io", "%v", err)
	}
	return streams{stdin, created("stdout"), created("stderr")}
}

// world is what the guest sees of the host. Left alone the engine shows clocks
// that stand still, and numbers that are not random.
func (c *crew) world(open streams) wazero.ModuleConfig {
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions().
		WithStdin(open.stdin).WithStdout(open.stdout).WithStderr(open.stderr).
		WithSysWalltime().WithSysNanotime().WithSysNanosleep().WithRandSource(rand.Reader)
	args := []string{filepath.Base(string(c.asked.Module))}
	for _, arg := range c.asked.Args {
		args = append(args, string(arg))
	}
	config = config.WithArgs(args...)
	for _, variable := range c.asked.Env {
		config = config.WithEnv(variable.first, variable.second)
	}
	folders := wazero.NewFSConfig()
	for _, folder := range c.asked.Dirs {
		// Left alone the engine finds out when the guest does.
		if _, err := os.Stat(folder.first); err != nil {
			fail("io", "%v", err)
		}
		folders = folders.WithDirMount(folder.first, folder.second)
	}
	if len(c.asked.Dirs) > 0 {
		config = config.WithFSConfig(folders)
	}
	return config
}

func (c *crew) instantiate(config wazero.ModuleConfig) (api.Module, api.Function) {
	instance, err := c.runtime.InstantiateModule(background, c.module, config)
	if err != nil {
		if trap := trapMessage(err); trap != "" {
			fail("trap", "%s", trap)
		}
		fail("link", "%v", err)
	}
	return instance, instance.ExportedFunction("_start")
}

// run runs the program and returns its exit code.
func run(start api.Function) int32 {
	_, err := start.Call(background)
	if err == nil {
		return 0
	}
	if code, exited := exitCode(err); exited {
		return code
	}
	if trap := trapMessage(err); trap != "" {
		fail("trap", "%s", trap)
	}
	fail("internal", "%v", err)
	return 0
}

func (c *crew) iterate(thread, index int, counted bool) {
	open := c.openStreams(thread, index)
	world := c.world(open)
	watch := start(cpuOfThread)
	instance, entry := c.instantiate(world)
	instantiated := watch.stop()
	watch = start(cpuOfThread)
	exit := run(entry)
	ran := watch.stop()
	watch = start(cpuOfThread)
	instance.Close(background)
	tornDown := watch.stop()
	for _, file := range []*os.File{open.stdin, open.stdout, open.stderr} {
		// The engine may have closed them already.
		file.Close()
	}
	phases := map[string]cost{"instantiate": instantiated, "run": ran, "teardown": tornDown}
	if c.asked.Cycle && importsNothing(c.module) {
		watch = start(cpuOfThread)
		last := c.cycle()
		phases["cycle"] = watch.stop()
		if exit == 0 {
			exit = last
		}
	}
	send(event{
		"event": "iteration", "thread": thread, "index": index, "counted": counted,
		"phases": phases, "exit": exit, "stdout": open.stdout.Name(),
	})
}

func importsNothing(module wazero.CompiledModule) bool {
	return len(module.ImportedFunctions()) == 0 && len(module.ImportedMemories()) == 0
}

// As many as the protocol says, one after the other.
const instancesPerCycle = 1000

// cycle returns the first status that is not 0.
func (c *crew) cycle() int32 {
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	for range instancesPerCycle {
		instance, entry := c.instantiate(config)
		exit := run(entry)
		instance.Close(background)
		if exit != 0 {
			return exit
		}
	}
	return 0
}
