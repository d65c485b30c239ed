// SPDX-License-Identifier: Apache-2.0
// Where CPython keeps its global interpreter lock, so that a wait for it can be told from any
// other. Fed by the GOT patcher's scan, asked by the hooks of thread waits. CPython 3.7 to 3.13 has
// the lock's mutex and condition variables inside its object `_PyRuntime`, which the program or
// libpython exports; locks of Python programs are semaphores elsewhere. The locks that
// subinterpreters may have of their own since 3.12 are allocated: they are not found. Threads: any.
#ifndef LIGHTMETER_AGENT_PYTHON_GIL_H
#define LIGHTMETER_AGENT_PYTHON_GIL_H

#include <stddef.h>
#include <stdint.h>

struct elf_object;

struct python_gil {
    uintptr_t low;
    size_t length_bytes; // 0: no interpreter was seen
};
extern struct python_gil python_gil;

// Looks into one loaded object. The first that has an interpreter counts, as for the loader.
void python_gil_see(const struct elf_object *o);

// Something was unloaded: all objects are shown again.
void python_gil_forget(void);

// Whether a mutex or condition variable belongs to the global interpreter lock.
static inline int python_gil_has(const volatile void *lock)
{
    const size_t length_bytes = __atomic_load_n(&python_gil.length_bytes, __ATOMIC_ACQUIRE);
    return (uintptr_t)lock - __atomic_load_n(&python_gil.low, __ATOMIC_RELAXED) < length_bytes;
}

#endif
