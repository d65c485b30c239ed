// SPDX-License-Identifier: Apache-2.0
// The command line of the text detection example. Used by main.c.
// Threads: read once at the start.
#ifndef EXAMPLES_OCR_OPTIONS_H
#define EXAMPLES_OCR_OPTIONS_H

#include "base/err.h"
#include "photo/photo_list.h"

#include <stdint.h>

struct options {
    const char *model_path;
    const char *library_path; // NULL: not named
    uint32_t limit_side_px;
    int threads; // 0: ONNX Runtime's choice
    uint32_t repeat;
    struct photo_list photos;
    int help; // asked for: the rest is not filled
};

extern const char options_usage[];

// Reads the command line. Fails with a message on what it does not understand and on folders
// without photographs. The caller calls options_fini in either case.
int options_parse(struct options *options, int argc, char **argv, struct err *e);

void options_fini(struct options *options);

#endif
