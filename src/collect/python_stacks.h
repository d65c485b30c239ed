// SPDX-License-Identifier: Apache-2.0
// Samples the stacks of Python code in the run's processes: which line each thread is in, some 100
// times a second, less often where that costs more CPU than a two-hundredth of the time.
// Interpreters announce themselves in their process files. Called by collect/follow.c. Threads: one
// owner.
#ifndef LIGHTMETER_COLLECT_PYTHON_STACKS_H
#define LIGHTMETER_COLLECT_PYTHON_STACKS_H

#include "base/buf.h"
#include "collect/sample.h"

#include <stdint.h>

struct python_stacks;

// Borrows the descriptor of the run directory. Never NULL.
struct python_stacks *python_stacks_new(int run_dir_fd);
void python_stacks_free(struct python_stacks **s);

// Takes a round when one is due at `now_ns` (monotonic), as samples of `sampler`. Nanoseconds until
// the next is due.
uint64_t python_stacks_step(struct python_stacks *s, uint64_t now_ns, struct sampler *sampler);

// The TEXT records of stacks that are new since the last python_stacks_clear. `is_forgotten`:
// later samples of these stacks get new ones.
const struct buf *python_stacks_texts(const struct python_stacks *s);
void python_stacks_clear(struct python_stacks *s, int is_forgotten);

// So far. `missing`: why an interpreter's stacks could not be read, "" when all could.
uint64_t python_stacks_taken(const struct python_stacks *s);
const char *python_stacks_missing(const struct python_stacks *s);

#endif
