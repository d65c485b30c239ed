// SPDX-License-Identifier: Apache-2.0
// The file names in a run directory, made and parsed. Needs no memory and no library, so that the
// agent compiles it too; used by the drain and `recover`. Does not touch files. Threads: no state.
//
//   s-PID-IMAGE-THREAD-SEQ   a segment (struct trace_segment), all numbers in lower-case
//   hexadecimal p-PID-IMAGE              a process file (struct trace_process) free-BYTES-N a
//   segment file that may be claimed by renaming it; N below
//                            TRACE_FREE_SLOTS; content undefined but for a zeroed header
//   new-N                    one that the launcher is still making
//   meta.json, done          see trace/rundir.h
//   config, control          what the launcher tells the agent
#ifndef LIGHTMETER_TRACE_NAMES_H
#define LIGHTMETER_TRACE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_NAME_BYTES 64u // room for any of these names, the final NUL included

// Free files of one length are numbered 0 .. TRACE_FREE_SLOTS - 1, low numbers first, so that a
// claimer can try names without reading the directory.
#define TRACE_FREE_SLOTS 32u

enum trace_name_kind {
    TRACE_NAME_FOREIGN = 0, // none of ours
    TRACE_NAME_SEGMENT,
    TRACE_NAME_PROCESS,
    TRACE_NAME_FREE,
    TRACE_NAME_NEW,
    TRACE_NAME_META,
    TRACE_NAME_DONE,
    TRACE_NAME_CONFIG,
    TRACE_NAME_CONTROL,
};

// A parsed name; fields that the kind does not have are 0.
struct trace_name {
    enum trace_name_kind kind;
    uint32_t pid;
    uint64_t image_ticks;
    uint32_t thread_seq, segment_seq;
    uint32_t length_bytes; // of a free file
    uint32_t number;       // of a free or new one
};

// Writes the name for `n` (not FOREIGN) and returns `text`, which has TRACE_NAME_BYTES.
char *trace_name_format(char *text, const struct trace_name *n);

// Parses exactly what trace_name_format writes; anything else is FOREIGN.
struct trace_name trace_name_parse(const char *text);

#endif
