// The request: one line of JSON on standard input.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
)

const protocolVersion = 1

// text is a string that must be there: JSON's null is none.
type text string

func (t *text) UnmarshalJSON(bytes []byte) error {
	if string(bytes) == "null" {
		return errors.New("null where a text must be")
	}
	return json.Unmarshal(bytes, (*string)(t))
}

// pair is a list of two texts.
type pair struct{ first, second string }

func (p *pair) UnmarshalJSON(bytes []byte) error {
	var both []text
	if err := json.Unmarshal(bytes, &both); err != nil {
		return err
	}
	if len(both) != 2 {
		return errors.New("a list that is no pair")
	}
	p.first, p.second = string(both[0]), string(both[1])
	return nil
}

type call struct {
	Export text   `json:"export"`
	Args   []text `json:"args"`
}

// request is what the parent asks for, of both modes.
type request struct {
	Mode       string  `json:"mode"`
	Module     text    `json:"module"`
	Strategy   string  `json:"strategy"`
	Backend    *string `json:"backend"`
	Opt        *string `json:"opt"`
	Args       []text  `json:"args"`
	Env        []pair  `json:"env"`
	Dirs       []pair  `json:"dirs"`
	Stdin      *string `json:"stdin"`
	Scratch    string  `json:"scratch"`
	Threads    int     `json:"threads"`
	CPUs       []int   `json:"cpus"`
	Warmup     int     `json:"warmup"`
	Iterations int     `json:"iterations"`
	Cycle      bool    `json:"cycle"`
	Calls      []call  `json:"calls"`
}

func (r *request) backend() string {
	if r.Backend == nil {
		return "compiler"
	}
	return *r.Backend
}

func (r *request) opt() string {
	if r.Opt == nil {
		return "speed"
	}
	return *r.Opt
}

func readRequest() *request {
	line, err := io.ReadAll(os.Stdin)
	if err != nil {
		fail("io", "reading the request: %v", err)
	}
	// The version and the mode first, whatever else is there.
	var head struct {
		Protocol int    `json:"protocol"`
		Mode     string `json:"mode"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		fail("internal", "the request is not one line of JSON: %v", err)
	}
	if head.Protocol != protocolVersion {
		fail("unsupported", "this runner speaks protocol %d, not %d", protocolVersion, head.Protocol)
	}
	if head.Mode != "measure" && head.Mode != "probe" {
		fail("unsupported", "this runner has no mode %q", head.Mode)
	}
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		fail("internal", "the request is not understood: %v", err)
	}
	if asked.Module == "" {
		fail("internal", "the request names no module")
	}
	if asked.Mode == "measure" && (asked.Threads < 1 || asked.Iterations < 1 || asked.Warmup < 0) {
		fail("internal", "threads and iterations must be 1 or more")
	}
	return &asked
}
