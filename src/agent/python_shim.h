// SPDX-License-Identifier: Apache-2.0
// Whether the Python shim came up in a process that has a CPython, for the report's coverage table,
// and what the interpreter was told that kept it out. Fed by the GOT patcher's scan. Threads: any.
#ifndef LIGHTMETER_AGENT_PYTHON_SHIM_H
#define LIGHTMETER_AGENT_PYTHON_SHIM_H

#include "trace/format.h"

#include <stdint.h>

struct elf_object;

// Looks into one loaded object, under the loader's list lock. The first interpreter counts.
void python_shim_see(const struct elf_object *o);

// Something was unloaded: all objects are shown again.
void python_shim_forget(void);

// The shim is at work, and has its own lines in the coverage; see calls.h.
void python_shim_is_up(uint64_t version, uintptr_t runtime);

// Tells the launcher of it in a new process file.
void python_shim_announce(struct trace_process *p);

// Writes a line where there is an interpreter without it.
void python_shim_report(void);

#endif
