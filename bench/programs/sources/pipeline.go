// Goroutines in a pipeline: a channel of jobs, workers, a channel of results, and garbage to collect.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

func mixed(seed uint64, rounds int) uint64 {
	for round := 0; round < rounds; round++ {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
	}
	return seed
}

func main() {
	workers, _ := strconv.Atoi(os.Args[1])
	size, _ := strconv.Atoi(os.Args[2])
	jobs := make(chan uint64)
	results := make(chan []uint64, 16)
	var running sync.WaitGroup
	for worker := 0; worker < workers; worker++ {
		running.Add(1)
		go func() {
			defer running.Done()
			for job := range jobs {
				found := make([]uint64, 256)
				for i := range found {
					found[i] = mixed(job+uint64(i), 20)
				}
				results <- found
			}
		}()
	}
	go func() {
		for job := 1; job <= size; job++ {
			jobs <- uint64(job)
		}
		close(jobs)
		running.Wait()
		close(results)
	}()
	var total uint64
	for found := range results {
		for _, value := range found {
			total += value
		}
	}
	fmt.Println(total)
}
