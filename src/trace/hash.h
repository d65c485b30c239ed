// SPDX-License-Identifier: Apache-2.0
// The checksum of trace blocks: XXH3, 64 bits. The only file pair that knows the xxHash library.
// Used by the packer and the reader. Guards against damage, not against forgery. Threads: no state.
#ifndef LIGHTMETER_TRACE_HASH_H
#define LIGHTMETER_TRACE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t trace_hash(const void *bytes, size_t length_bytes);

#endif
