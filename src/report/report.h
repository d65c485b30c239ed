// SPDX-License-Identifier: Apache-2.0
// The report: what a run was limited by and where its time went, for a person (terminal, Markdown)
// or a program (JSON). Called by `run` and `report`. Fills one neutral document (report/document.h)
// and gives it to a format of formats/registry.def. Does not print. Threads: no shared state.
//
// Besides the facts the report reads these keys of the run's META block, each of which may be
// missing:
//   "command": [..]                what was run
//   "host": {"cpu", "cores_allowed", "memory_bytes", "kernel", "container", "gpus": [..]}
//   "collection": {"methods": [..], "agent_missing",   how numbers were collected, in words
//                  "scheduler_missing"}              why its events were not
//   "target": {"is_preloadable", "why"}   whether its inside could be seen
// and of its SUMMARY block:
//   "exit": {"status", "signal"}   how the target ended; "signal" 0 or missing: it exited
//   "usage": {..}, "launcher": {"cpu_ratio", ..}   as the kernel and the launcher counted
#ifndef LIGHTMETER_REPORT_REPORT_H
#define LIGHTMETER_REPORT_REPORT_H

#include "analyze/facts.h"
#include "analyze/verdict.h"
#include "base/buf.h"
#include "base/err.h"

#define REPORT_WIDTH_COLUMNS 80     // the widest line unless the caller asks for another width
#define REPORT_WIDTH_MIN_COLUMNS 60 // narrower than this, lines are 60 columns all the same
#define REPORT_WIDTH_MAX_COLUMNS 200

// How a format may write. Formats that this does not concern ignore it.
struct report_options {
    int width_columns; // 0: REPORT_WIDTH_COLUMNS; else brought into the limits above
    int has_colour;    // ANSI colours may be used
    int has_utf8;      // else only ASCII is written
};

// What fits the stream `fd`: colour only on a terminal that has it and without NO_COLOR; UTF-8 when
// the locale of the environment (LC_ALL, LC_CTYPE, LANG) says so; the terminal's width, at most
// REPORT_WIDTH_COLUMNS. A pipe or a file gets 80 columns and no colour.
struct report_options report_options_for_fd(int fd);

struct document;

struct report_format {
    const char *name; // as in the registry
    const char *help; // one line
    // Appends the whole report. Cannot fail.
    void (*write_fn)(const struct document *d, const struct report_options *o, struct buf *out);
};

// The format of that name, or NULL with a message that lists the names there are.
const struct report_format *report_format_find(const char *name, struct err *e);

// All formats, in the registry's order, ended by NULL.
const struct report_format *const *report_format_all(void);

// Appends the report of a run to *out. `source` names the trace in the report (its file name) or is
// NULL. `verdict` and the model behind `facts` are borrowed for the call.
void report_write(const struct report_format *format, const struct facts *facts,
    const struct verdict *verdict, const char *source, const struct report_options *o,
    struct buf *out);

#endif
