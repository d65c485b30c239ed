// SPDX-License-Identifier: Apache-2.0
// Turns a stream of records into columns of byte planes that compress well, and back. Times become
// small gaps (to the last moment, to the first child's start), and the bytes of a column lie
// together. Used by the packer and the reader. Does not compress. Threads: one owner per struct.
#ifndef LIGHTMETER_TRACE_PLANES_H
#define LIGHTMETER_TRACE_PLANES_H

#include <stddef.h>
#include <stdint.h>

struct planes; // buffers, reused from call to call

struct planes *planes_new(void); // NULL when memory is out
void planes_free(struct planes **p);

struct planes_output {
    const uint8_t *bytes;
    size_t length_bytes;
    const size_t *cut_bytes; // ends of the planes, ascending; the last is length_bytes
    size_t cuts;
};

// Encodes `length_bytes` of records. 1 and *out (owned by p, valid until the next call); 0 when the
// stream holds anything that would not come back exactly (unknown kinds, reserved bytes in use):
// store it plainly then; -1 when memory is out. `records` aligned to 8.
int planes_encode(
    struct planes *p, const void *records, size_t length_bytes, struct planes_output *out);

// Decodes into `records`, which has room for exactly `length_bytes`. 0, or -1 when the input is not
// what planes_encode gives for so many bytes; `records` is then undefined. Never reads or writes
// beyond either.
int planes_decode(
    struct planes *p, const void *bytes, size_t encoded_bytes, void *records, size_t length_bytes);

// The most that planes_encode gives for `length_bytes` of records.
size_t planes_limit_bytes(size_t length_bytes);

#endif
