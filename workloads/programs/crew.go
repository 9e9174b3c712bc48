// crew FILE WORKERS: what a Go program does: goroutines and channels, select,
// maps, interfaces, closures, panics recovered, garbage, files.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"regexp"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

type shape interface{ area() float64 }
type square struct{ Side float64 }
type circle struct{ Radius float64 }

func (s square) area() float64  { return s.Side * s.Side }
func (c *circle) area() float64 { return 3.25 * c.Radius * c.Radius }

var errDeep = errors.New("too deep")

func deep(n int) error {
	if n == 0 {
		return fmt.Errorf("level %d: %w", n, errDeep)
	}
	return deep(n - 1)
}

func crew(workers int) {
	jobs, results := make(chan int, 4), make(chan [2]int)
	var group sync.WaitGroup
	for w := 0; w < workers; w++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for n := range jobs {
				steps := 0
				for m := n; m != 1; steps++ {
					if m%2 == 0 {
						m /= 2
					} else {
						m = 3*m + 1
					}
				}
				results <- [2]int{n, steps}
			}
		}()
	}
	go func() {
		for n := 1; n <= 3000; n++ {
			jobs <- n
		}
		close(jobs)
		group.Wait()
		close(results)
	}()
	best, total := [2]int{}, 0
	for r := range results {
		total += r[1]
		if r[1] > best[1] || (r[1] == best[1] && r[0] < best[0]) {
			best = r
		}
	}
	fmt.Println("crew", total, best)
}

func try(name string, body func()) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Println(name, "recovered:", r)
		}
	}()
	body()
}

func panics() {
	var none map[string]int
	var nothing *circle
	list := []int{1, 2, 3}
	index := len(os.Args)
	try("map", func() { none["a"] = 1 })
	try("nil", func() { fmt.Println(nothing.area()) })
	try("index", func() { fmt.Println(list[index]) })
	try("divide", func() { fmt.Println(1 / (index - 3)) })
	try("type", func() { fmt.Println(any(list).(shape)) })
	try("own", func() { defer fmt.Println("deferred"); panic(fmt.Sprint("own ", index)) })
	try("chan", func() { c := make(chan int); close(c); close(c) })
}

func garbage() {
	type node struct {
		next *node
		data [40]byte
	}
	var keep *node
	for i := 0; i < 200000; i++ {
		n := &node{}
		n.data[0] = byte(i)
		if i%1000 == 0 {
			n.next, keep = keep, n
		}
	}
	runtime.GC()
	count := 0
	for n := keep; n != nil; n = n.next {
		count += int(n.data[0]) + 1
	}
	fmt.Println("kept", count)
}

func file(path string) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	for i := 0; i < 1000; i++ {
		fmt.Fprintf(w, "%d %s\n", i, strings.Repeat("x", i%7))
	}
	if err := errors.Join(w.Flush(), out.Close()); err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fmt.Printf("file %d %x\n", len(text), sha256.Sum256(text))
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Println(info.Size(), info.IsDir(), strings.Count(string(text), "x\n"))
	_, err = os.Open("missing")
	fmt.Println(errors.Is(err, os.ErrNotExist))
	return os.Remove(path)
}

func main() {
	workers, err := strconv.Atoi(os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	crew(workers)
	panics()
	garbage()
	shapes := []shape{square{2}, &circle{2}, square{0.5}}
	sort.Slice(shapes, func(i, j int) bool { return shapes[i].area() < shapes[j].area() })
	for _, s := range shapes {
		fmt.Printf("%T %v %.2f\n", s, s, s.area())
	}
	fmt.Println(errors.Is(deep(100), errDeep), deep(3))
	text, _ := json.Marshal(map[string]any{"b": []int{1, 2}, "a": square{1.5}, "c": nil})
	var back map[string]any
	fmt.Println(string(text), json.Unmarshal(text, &back), len(back))
	fmt.Println(new(big.Int).Exp(big.NewInt(3), big.NewInt(200), nil))
	fmt.Println(regexp.MustCompile(`(\w+)@(\w+)\.nl`).ReplaceAllString("piet@zee.nl", "$2:$1"))
	select {
	case <-time.After(5 * time.Millisecond):
		fmt.Println("time passed")
	case <-make(chan int):
		fmt.Println("never")
	}
	if err := file(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(5)
}
