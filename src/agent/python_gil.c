// SPDX-License-Identifier: Apache-2.0
// Finds CPython's `_PyRuntime` among the loaded objects. Called by the GOT patcher, one scan at a
// time, under the loader's list lock. Allocates nothing. Threads: see the header.
#include "agent/python_gil.h"

#include "agent/elf_object.h"

struct python_gil python_gil;

void python_gil_see(const struct elf_object *o)
{
    size_t length_bytes = 0;
    if (python_gil.length_bytes)
        return;
    const uintptr_t low = elf_object_find_data(o, "_PyRuntime", &length_bytes);
    if (!low)
        return;
    __atomic_store_n(&python_gil.low, low, __ATOMIC_RELAXED);
    __atomic_store_n(&python_gil.length_bytes, length_bytes, __ATOMIC_RELEASE);
}

void python_gil_forget(void)
{
    __atomic_store_n(&python_gil.length_bytes, 0, __ATOMIC_RELEASE);
}
