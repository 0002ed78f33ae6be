// SPDX-License-Identifier: Apache-2.0
// profile CPU HEAP: writes both profiles of itself; what it computes has a label.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"time"
)

var kept [][]byte

//go:noinline
func sum(n int) (s int) {
	for i := 0; i < n; i++ {
		s += i * i % 7
	}
	return s
}

//go:noinline
func keep(n int) {
	for i := 0; i < n; i++ {
		kept = append(kept, make([]byte, 1<<20))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	cpu, err := os.Create(os.Args[1])
	check(err)
	check(pprof.StartCPUProfile(cpu))
	total := 0
	begun := time.Now()
	pprof.Do(context.Background(), pprof.Labels("thread", "summing"), func(context.Context) {
		for time.Since(begun) < time.Second {
			total += sum(1000000)
		}
	})
	for time.Since(begun) < 1500*time.Millisecond {
		total += sum(1000000)
	}
	pprof.StopCPUProfile()
	check(cpu.Close())
	keep(64)
	runtime.GC()
	heap, err := os.Create(os.Args[2])
	check(err)
	check(pprof.WriteHeapProfile(heap))
	check(heap.Close())
	fmt.Println(total, len(kept))
}
