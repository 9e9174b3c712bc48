// Runs WebAssembly on wazero for fathom: reads one request from standard input,
// sends events to the descriptor in FATHOM_EVENTS_FD.
//
//	main.go      modes, configuration, load, compile
//	request.go   the request
//	events.go    the protocol's events, and failures
//	clock.go     clocks and the process's totals
//	guest.go     measured threads: instantiate, run, tear down
//	probe.go     probe mode: calls of one instance
//	evidence.go  which checks and tier are really in force
//
// `runner --check` prints what would be in force and exits with 0.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// Pages that a memory may have. With one more, 4 GiB, its size no longer fits the
// engine's 32-bit number: compiled code takes it for empty, the interpreter fails.
const pagesMax = 65535

// What must not be cancelled needs no context.
var background = context.Background()

// newRuntime makes the engine as a request wants it.
func newRuntime(strategy, backend, opt string) wazero.Runtime {
	if strategy != "trap" {
		fail("unsupported", "wazero has no strategy %q: use trap", strategy)
	}
	if opt != "speed" {
		fail("unsupported", "wazero has no optimisation level %q: use speed", opt)
	}
	var config wazero.RuntimeConfig
	switch backend {
	case "compiler":
		config = compilerConfig()
	case "interpreter":
		config = wazero.NewRuntimeConfigInterpreter()
	default:
		fail("unsupported", "wazero has no backend %q: use compiler or interpreter", backend)
	}
	return wazero.NewRuntimeWithConfig(background, config.WithMemoryLimitPages(pagesMax))
}

// compilerConfig fails where the compiler does not know this machine.
func compilerConfig() wazero.RuntimeConfig {
	defer func() {
		if why := recover(); why != nil {
			fail("unsupported", "%v", why)
		}
	}()
	return wazero.NewRuntimeConfigCompiler()
}

// compile loads and compiles the module, and sends what each took.
func compile(runtime wazero.Runtime, path string) (wazero.CompiledModule, uint64) {
	watch := start(cpuOfProcess)
	bytes, err := os.ReadFile(path)
	load := watch.stop()
	if err != nil {
		fail("io", "%v", err)
	}
	send(event{"event": "phase", "phase": "load", "wall_ns": load.Wall, "cpu_ns": load.CPU})
	before := madeCodeBytes()
	watch = start(cpuOfProcess)
	module, err := runtime.CompileModule(background, bytes)
	compiling := watch.stop()
	if err != nil {
		fail("invalid", "%v", err)
	}
	send(event{"event": "phase", "phase": "compile", "wall_ns": compiling.Wall, "cpu_ns": compiling.CPU})
	return module, madeCodeBytes() - before
}

func serve() {
	asked := readRequest()
	runtime := newRuntime(asked.Strategy, asked.backend(), asked.opt())
	send(hello(runtime, asked.backend()))
	if asked.Mode == "probe" {
		probe(runtime, asked)
	} else {
		wasi_snapshot_preview1.MustInstantiate(background, runtime)
		module, codeBytes := compile(runtime, string(asked.Module))
		measure(runtime, module, asked)
		send(event{"event": "process", "metrics": processMetrics(codeBytes)})
	}
	send(event{"event": "done"})
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--check" {
		openEvents(os.Stderr)
		said := hello(newRuntime("trap", "compiler", "speed"), "compiler")
		fmt.Printf("%s %s: %s, %s (%s)\n", said["engine"], said["version"], said["tier"], said["checks"], said["evidence"])
		return
	}
	descriptor := eventsDescriptor()
	if descriptor == nil {
		fmt.Fprintln(os.Stderr, "FATHOM_EVENTS_FD does not name a descriptor: this program is started by fathom")
		os.Exit(2)
	}
	openEvents(descriptor)
	serve()
}
