// SPDX-License-Identifier: Apache-2.0
// The files that a command writes, judged before its work begins: whether they can be made, and
// whether one would destroy another. Used by the subcommands. Leaves nothing behind. Threads: none.
#ifndef LIGHTMETER_CLI_OUTPUT_H
#define LIGHTMETER_CLI_OUTPUT_H

#include "base/err.h"

// Whether a file could be made at `path` now, as file_write makes it; "-" and what is no regular
// file only have to be writable. What is there stays. 0, or -1 with a message that names `option`.
int output_try(const char *option, const char *path, struct err *e);

// The same for a trace, which takes neither "-" nor anything but a regular file.
int output_try_trace(const char *path, struct err *e);

// Whether both paths name one file, by inode or, where it is not there yet, by folder and name.
// Never for "-", terminals, pipes and devices: those are not replaced.
int output_is_same(const char *a, const char *b);

#endif
