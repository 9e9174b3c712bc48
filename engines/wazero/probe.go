// Probe mode: one instance, a list of calls in order, an answer or a trap for each.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// parseValue reads "i32:5", "i64:-1", or the bits of a float: "f32:0x3f800000".
func parseValue(value string) uint64 {
	kind, digits, _ := strings.Cut(value, ":")
	bits, err := strconv.ParseUint(digits, 0, 64)
	if err != nil {
		signed, wrong := strconv.ParseInt(digits, 10, 64)
		bits, err = uint64(signed), wrong
	}
	if err != nil {
		fail("internal", "not a number: %s", value)
	}
	switch kind {
	case "i32", "f32":
		return uint64(uint32(bits))
	case "i64", "f64":
		return bits
	}
	fail("unsupported", "cannot pass the argument %s", value)
	return 0
}

func formatValue(kind api.ValueType, bits uint64) string {
	switch kind {
	case api.ValueTypeI32:
		return fmt.Sprintf("i32:%d", int32(bits))
	case api.ValueTypeI64:
		return fmt.Sprintf("i64:%d", int64(bits))
	case api.ValueTypeF32:
		return fmt.Sprintf("f32:0x%08x", uint32(bits))
	case api.ValueTypeF64:
		return fmt.Sprintf("f64:0x%016x", bits)
	}
	fail("unsupported", "a call's result is neither an integer nor a float")
	return ""
}

// memoryModule is a module that exports one memory: hosts cannot make one.
func memoryModule(memory api.MemoryDefinition, name string) []byte {
	limits := appendNumber([]byte{0}, memory.Min())
	if most, bounded := memory.Max(); bounded {
		limits = appendNumber(appendNumber([]byte{1}, memory.Min()), most)
	}
	export := append(appendNumber(nil, uint32(len(name))), name...)
	export = append(export, 2, 0)
	module := []byte("\x00asm\x01\x00\x00\x00")
	module = appendSection(module, 5, limits)
	return appendSection(module, 7, export)
}

func appendSection(module []byte, section byte, one []byte) []byte {
	module = append(module, section)
	module = appendNumber(module, uint32(len(one)+1))
	return append(append(module, 1), one...)
}

// appendNumber appends an unsigned LEB128.
func appendNumber(to []byte, number uint32) []byte {
	for number >= 0x80 {
		to = append(to, byte(number)|0x80)
		number >>= 7
	}
	return append(to, byte(number))
}

// giveMemory makes a fresh memory for the one that a module may import.
func giveMemory(runtime wazero.Runtime, module wazero.CompiledModule) {
	for _, function := range module.ImportedFunctions() {
		from, name, _ := function.Import()
		fail("link", "nothing to import as %s %s", from, name)
	}
	for _, memory := range module.ImportedMemories() {
		from, name, _ := memory.Import()
		config := wazero.NewModuleConfig().WithName(from)
		if _, err := runtime.InstantiateWithConfig(background, memoryModule(memory, name), config); err != nil {
			fail("io", "%v", err)
		}
	}
}

func probe(runtime wazero.Runtime, asked *request) {
	bytes, err := os.ReadFile(string(asked.Module))
	if err != nil {
		fail("io", "%v", err)
	}
	module, err := runtime.CompileModule(background, bytes)
	if err != nil {
		fail("invalid", "%v", err)
	}
	giveMemory(runtime, module)
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	instance, err := runtime.InstantiateModule(background, module, config)
	if err != nil {
		fail("link", "%v", err)
	}
	for index, one := range asked.Calls {
		send(outcome(instance, index, one))
	}
}

func outcome(instance api.Module, index int, one call) event {
	function := instance.ExportedFunction(string(one.Export))
	if function == nil {
		fail("link", "the module has no function %s", one.Export)
	}
	arguments := []uint64{}
	for _, argument := range one.Args {
		arguments = append(arguments, parseValue(string(argument)))
	}
	values, err := function.Call(background, arguments...)
	if err != nil {
		trap := trapMessage(err)
		if trap == "" {
			fail("internal", "%v", err)
		}
		return event{"event": "call", "index": index, "trap": trap}
	}
	results := []string{}
	for i, kind := range function.Definition().ResultTypes() {
		results = append(results, formatValue(kind, values[i]))
	}
	return event{"event": "call", "index": index, "result": results}
}
