// SPDX-License-Identifier: Apache-2.0
// Host of test_hosts.py: what Go programs do: goroutines, pictures, children, signals, a panic that is
// caught. Built without cgo it is static, and nothing can be preloaded. Ends with 5.
//
//	runtime FOLDER
package main

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"image"
	"image/jpeg"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
)

func pictures() {
	picture := image.NewGray(image.Rect(0, 0, 160, 100))
	for i := range picture.Pix {
		picture.Pix[i] = byte(i / 3)
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, picture, nil); err != nil {
		fmt.Println(err)
	}
	seen, err := jpeg.Decode(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(seen.Bounds(), crc32.ChecksumIEEE(seen.(*image.Gray).Pix))
}

func goroutines() {
	var all sync.WaitGroup
	sums := make([]int, 200)
	for n := range sums {
		all.Add(1)
		go func(n int) {
			defer all.Done()
			for i := n; i < n+10000; i++ {
				sums[n] += i % 7
			}
		}(n)
	}
	all.Wait()
	total := 0
	for _, sum := range sums {
		total += sum
	}
	fmt.Println("goroutines", total)
}

func caught() {
	defer func() { fmt.Println("caught:", recover()) }()
	var nowhere *int
	*nowhere = 1
}

func main() {
	pictures()
	goroutines()
	caught()
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGUSR1)
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	fmt.Println(<-got)
	name := filepath.Join(os.Args[1], "data")
	fmt.Println(os.WriteFile(name, make([]byte, 5000), 0o600))
	text, err := os.ReadFile(name)
	fmt.Println(len(text), err)
	out, err := exec.Command("sh", "-c", "echo from the child; exit 9").Output()
	fmt.Print(string(out), err, "\n")
	fmt.Fprintln(os.Stderr, "not on the output")
	os.Exit(5)
}
