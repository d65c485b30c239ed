// SPDX-License-Identifier: Apache-2.0
// Small pictures of photographs: each pixel the mean of the pixels it stands for.
// Used by pipeline.c. Does not enlarge. Threads: no shared state.
#ifndef EXAMPLES_THREADS_SHRINK_H
#define EXAMPLES_THREADS_SHRINK_H

#include "base/err.h"
#include "photo/photo.h"

// Shrinks so that the longer side is `side_px`; a smaller photograph keeps its size. Fails when
// memory runs out, with a message that names `path`; `out` is then empty. The caller owns `out`.
int shrink_photo(struct photo_image *out, const struct photo_image *photo, uint32_t side_px,
    const char *path, struct err *e);

// A number that changes when a pixel changes (FNV-1a).
uint64_t shrink_checksum(const struct photo_image *image);

#endif
