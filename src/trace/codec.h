// SPDX-License-Identifier: Apache-2.0
// Compression of block contents: Zstandard frames, one after the other. The only file pair that
// knows the zstd library. Used by the packer and the reader. Checks no sums. Threads: one owner per
// codec.
#ifndef LIGHTMETER_TRACE_CODEC_H
#define LIGHTMETER_TRACE_CODEC_H

#include <stddef.h>
#include <stdint.h>

struct codec; // contexts and buffers, reused from call to call

struct codec *codec_new(void); // NULL when memory is out
void codec_free(struct codec **c);

// Compresses `bytes` as one frame per cut (cut_bytes holds the ends, ascending, the last being
// length_bytes). *out is owned by the codec and valid until the next call. 0, or -1 when memory is
// out.
int codec_compress(struct codec *c, const void *bytes, const size_t *cut_bytes, size_t cuts,
    const uint8_t **out, size_t *out_bytes);

// Decompresses all frames into `out`. The number of bytes, or -1 when the input is no series of
// whole frames or holds more than `room_bytes`.
int64_t codec_decompress(
    struct codec *c, const void *bytes, size_t length_bytes, void *out, size_t room_bytes);

#endif
