// SPDX-License-Identifier: Apache-2.0
// The command line of the threaded example. Used by main.c and, once read, by pipeline.c.
// Threads: read once at the start, then constant.
#ifndef EXAMPLES_THREADS_OPTIONS_H
#define EXAMPLES_THREADS_OPTIONS_H

#include "base/err.h"
#include "photo/photo_list.h"

#include <stdint.h>

struct options {
    size_t decoders;
    size_t queue; // photographs that each queue holds
    uint32_t side_px;
    uint32_t repeat;
    const char *out_folder; // for the small pictures; NULL: not written
    struct photo_list photos;
    int help; // asked for: the rest is not filled
};

extern const char options_usage[];

// Reads the command line. Fails with a message on what it does not understand and on folders
// without photographs. The caller calls options_fini in either case.
int options_parse(struct options *options, int argc, char **argv, struct err *e);

void options_fini(struct options *options);

#endif
