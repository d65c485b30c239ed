// SPDX-License-Identifier: Apache-2.0
// Prints the boxes of a photograph as one line of JSON. Used by main.c.
// Whether the stream took it is for the caller to ask. Threads: one at a time per stream.
#ifndef EXAMPLES_OCR_LINES_H
#define EXAMPLES_OCR_LINES_H

#include "ocr/boxes.h"
#include "photo/photo.h"

#include <stdio.h>

// {"photo":PATH,"width":W,"height":H,"boxes":[{"score":S,"points":[[x,y],[x,y],[x,y],[x,y]]},..]}
// Bytes of the path that are no UTF-8 become U+FFFD.
void lines_print(
    FILE *out, const char *path, const struct photo_image *photo, const struct box_list *list);

#endif
