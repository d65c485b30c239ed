// SPDX-License-Identifier: Apache-2.0
// Which calls make pictures, and how many pixels those have: libraries tell the shape of one
// picture in several of the calls for it. Used by build.c and walk.c. Threads: one owner.
#ifndef LIGHTMETER_ANALYZE_PICTURES_H
#define LIGHTMETER_ANALYZE_PICTURES_H

#include "analyze/build.h"

// What a call of the stage is to pictures: enum name_flag of NAME_IMAGE..., or 0.
unsigned pictures_flags(const char *stage, const char *name);

struct pictures_call {
    const char *name;
    unsigned flags;
    int has_elapsed; // ended a picture
};

// What is known of the picture in which a walk back in time is.
#define PICTURES_SEEN 4
struct pictures {
    int is_wanted; // its end was seen, its shape not yet
    unsigned seen_count;
    struct pictures_call seen[PICTURES_SEEN]; // whose pixels were counted, and others before it
};

// Of the `pixels` that the call tells of, those that are to be counted. For
// calls of stages of pictures, from the last one of a thread to the first, outermost ones only.
uint64_t pictures_pixels(struct pictures *p, const struct pictures_call *call, uint64_t pixels);

#endif
