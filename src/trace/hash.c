// SPDX-License-Identifier: Apache-2.0
// Wraps xxHash, which is inlined here so that no other file sees it. Called once per block header
// and once per payload. Does no buffering: the bytes lie together. Threads: no state.
#include "trace/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t trace_hash(const void *bytes, size_t length_bytes)
{
    return XXH3_64bits(bytes, length_bytes);
}
