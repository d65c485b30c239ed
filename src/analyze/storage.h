// SPDX-License-Identifier: Apache-2.0
// What the two I/O verdicts look at: how long the limiting thread is blocked in reads (or writes),
// how many are in flight, whether storage was really at work. Used by detectors/io_*.c. Threads:
// no state.
#ifndef LIGHTMETER_ANALYZE_STORAGE_H
#define LIGHTMETER_ANALYZE_STORAGE_H

#include "analyze/look.h"

struct storage {
    const struct facts_thread *thread; // the limiting one; NULL: none
    double blocked_ratio;              // of the steady window that it is blocked in I/O
    double in_flight;                  // mean number of threads blocked in I/O
    uint64_t calls, bytes;             // of the load stage
    double bytes_per_s;                // from storage; <0: not known
    double cold_ratio;                 // bytes from storage / bytes read; <0: not known
    int is_writing;                    // more of that time goes to writes than to reads
    const char *stage;                 // "load" or "save"; "": neither has any time
    const char *calls_word;            // "reads" or "writes"
};

struct storage storage_look(const struct facts *f);

// Whether storage was at work by accounts other than our own: 1 yes, -1 no, 0 not known. Adds the
// evidence.
int storage_confirm(
    const struct facts *f, const struct storage *s, struct arena *a, struct finding *out);

#endif
