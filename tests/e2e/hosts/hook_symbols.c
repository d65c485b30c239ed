// SPDX-License-Identifier: Apache-2.0
// Prints the symbols that the hook sets look for in their callers, one a line; those of libc are
// interposed. Read by test_hooks_symbols.py.
#include "agent/hook.h"

#include <stdio.h>

int main(void)
{
    for (int set = 0; hook_sets[set]; set++) {
        const struct hook_function *f = hook_sets[set]->functions;
        for (; f && f->symbol; f++)
            if (f->thunks)
                printf("%s\n", f->symbol);
    }
    return 0;
}
