// SPDX-License-Identifier: Apache-2.0
// How the library is named in LD_PRELOAD. Every program below the target reads that variable, also
// those that the library is not built for. Through the loader's token, BESIDE/preload/$LIB/FILE, a
// 64-bit glibc finds the library there, a 32-bit one a blank library that it loads without a word,
// and musl, which knows no tokens, finds nothing and goes on. Called by the launcher and `doctor`.
// Threads: no shared state.
#ifndef LIGHTMETER_COLLECT_PRELOAD_H
#define LIGHTMETER_COLLECT_PRELOAD_H

#include "base/buf.h"

#define PRELOAD_FILE "liblightmeter-agent.so"

// Appends what LD_PRELOAD is to hold so that `agent` (a path) is loaded. 1 when it is named through
// the token; 0 when it is `agent` as it is, because there is no folder `preload` of this very file
// beside it, or because the loader of this machine does not find the file there.
int preload_name(const char *agent, struct buf *out);

// Appends the path of a blank library for 32-bit programs beside `agent`. 1, or 0 when there is
// none.
int preload_blank_find(const char *agent, struct buf *out);

#endif
