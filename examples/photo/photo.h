// SPDX-License-Identifier: Apache-2.0
// A photograph on its way from the disk to pixels: the bytes of its file, then the decoded image.
// Used by the C examples. Reads with stdio and decodes with libjpeg, at full size, as most programs
// do. Threads: a struct belongs to one thread at a time; the functions share nothing.
#ifndef EXAMPLES_PHOTO_H
#define EXAMPLES_PHOTO_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct photo_bytes {
    unsigned char *data;
    size_t length_bytes;
};

struct photo_image {
    uint8_t *rgb; // height_px rows of width_px pixels of three bytes, without gaps
    uint32_t width_px;
    uint32_t height_px;
};

// Reads the whole file. Fails, with a message that names the file, when it cannot be opened or
// read, is empty, or memory runs out; `out` is then empty. The caller owns `out`.
int photo_bytes_read(struct photo_bytes *out, const char *path, struct err *e);

// Decodes a JPEG file, grey ones too, to RGB. Fails, with a message that names `path`, on what is
// no JPEG, on damage (also where libjpeg would go on with grey pixels), on CMYK, and on images of
// more than 400 million pixels; `out` is then empty. The caller owns `out`.
int photo_image_decode(
    struct photo_image *out, const struct photo_bytes *bytes, const char *path, struct err *e);

// Free what they hold and empty it; an empty one is fine.
void photo_bytes_fini(struct photo_bytes *bytes);
void photo_image_fini(struct photo_image *image);

#endif
