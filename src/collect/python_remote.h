// SPDX-License-Identifier: Apache-2.0
// The stacks of Python code in another process, read out of its memory while it runs on: it is
// neither stopped nor does it notice. What is read may change meanwhile, so nothing is believed:
// what makes no sense is left out. Used by python_stacks.c. Threads: one owner.
#ifndef LIGHTMETER_COLLECT_PYTHON_REMOTE_H
#define LIGHTMETER_COLLECT_PYTHON_REMOTE_H

#include "collect/python_layout.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PYTHON_FRAMES_MOST 256 // innermost ones of a deeper stack

// A frame: the code it runs, and where.
struct python_frame {
    uint32_t code; // for python_remote_function and _file
    int32_t line;  // 0: not known
};

struct python_stack {
    uint32_t tid; // in the kernel
    size_t count;
    struct python_frame frames[PYTHON_FRAMES_MOST]; // innermost first
};

struct python_remote;

// The interpreter that has its _PyRuntime at `runtime`. Never NULL.
struct python_remote *python_remote_new(
    pid_t pid, uint64_t runtime, const struct python_layout *layout);
void python_remote_free(struct python_remote **r);

// Calls back with each thread that runs Python code. 0; or -1 with errno when the process cannot be
// read: EPERM for ever, ESRCH once it is gone.
int python_remote_stacks(struct python_remote *r,
    void (*stack_fn)(void *context, const struct python_stack *stack), void *context);

// Texts of a code that was given, UTF-8; valid as long as *r.
const char *python_remote_function(const struct python_remote *r, uint32_t code);
const char *python_remote_file(const struct python_remote *r, uint32_t code);

#endif
