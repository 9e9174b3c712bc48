// Events: lines of JSON on the descriptor that the parent named.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/tetratelabs/wazero/sys"
)

type event map[string]any

var (
	events  *os.File
	sending sync.Mutex
)

// eventsDescriptor is the one the parent named, or nil.
func eventsDescriptor() *os.File {
	number, err := strconv.Atoi(os.Getenv("FATHOM_EVENTS_FD"))
	if err != nil || number <= 2 {
		return nil
	}
	syscall.CloseOnExec(number)
	return os.NewFile(uintptr(number), "events")
}

func openEvents(to *os.File) { events = to }

// send writes one event whole, also among threads.
func send(one event) {
	sending.Lock()
	defer sending.Unlock()
	write(one)
}

func write(one event) {
	line, err := json.Marshal(one)
	if err == nil {
		_, err = events.Write(append(line, '\n'))
	}
	if err != nil {
		// The parent has gone: nobody is left to tell.
		os.Exit(1)
	}
}

// fail sends the error event and ends the process; the first that fails does.
func fail(kind, format string, values ...any) {
	// Never unlocked: no event follows.
	sending.Lock()
	// The engine's backtraces begin on the second line.
	message, _, _ := strings.Cut(fmt.Sprintf(format, values...), "\n")
	write(event{"event": "error", "kind": kind, "message": message})
	os.Exit(1)
}

// The engine's words for traps, where the official test suite has others.
var trapWords = map[string]string{
	"stack overflow":       "call stack exhausted",
	"invalid table access": "undefined element",
}

// trapMessage is a trap in the official test suite's words, or "" for another
// error. The engine's types for traps are not to be had outside of it; its text
// is "wasm error: TRAP", then lines of a backtrace.
func trapMessage(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	// Where a start function trapped its name stands in front, and the compiler's
	// code says "stack overflow" without more.
	_, trap, found := strings.Cut(first, "wasm error: ")
	if word, other := trapWords[cmp.Or(trap, first)]; other {
		return word
	}
	if !found {
		return ""
	}
	return trap
}

// exitCode is the status of a program that ended itself.
func exitCode(err error) (int32, bool) {
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		return int32(exit.ExitCode()), true
	}
	return 0, false
}
