// SPDX-License-Identifier: Apache-2.0
// Which library a function lies in, by the address of its code. Asked before a function is hooked
// whose name says little, so that another's function of the same name (ReadImage is one in
// ImageMagick, in GraphicsMagick and in many a program) is left alone. Threads: no state.
#ifndef LIGHTMETER_AGENT_ORIGINAL_H
#define LIGHTMETER_AGENT_ORIGINAL_H

#include <stdint.h>

// Whether the loaded object that holds `address` has a file name (without folders) that begins with
// one of `libraries`, a list that ends with NULL. May be called under the loader's list lock.
int original_is_in(const char *const *libraries, uintptr_t address);

#endif
