// SPDX-License-Identifier: Apache-2.0
// From a trace to the text of its report: load, analyse, judge, write. Used by `run` and `report`.
// Does not print. Threads: none.
#ifndef LIGHTMETER_CLI_SHOW_H
#define LIGHTMETER_CLI_SHOW_H

#include "base/buf.h"
#include "base/err.h"
#include "report/report.h"

struct show; // a loaded and judged run

// Loads `path`. `item_stage`: what counts as an item; NULL: as the run was told, else by the rule.
// The caller frees it; or NULL with a message.
struct show *show_open(const char *path, const char *item_stage, struct err *e);
void show_close(struct show **s);

// Appends the report in `format`. `source` is the trace's name in it.
void show_write(const struct show *s, const struct report_format *format, const char *source,
    const struct report_options *o, struct buf *out);

// What is wrong with an empty --item-stage.
#define SHOW_NO_ITEM_STAGE                                                                         \
    "--item-stage needs the name of a stage, or of a call that the report lists"

// The values of --format, ended by NULL.
extern const char *const show_formats[];

// What fits the stream `fd`, else what fits a file when `path` is neither NULL nor "-".
struct report_options show_options(const char *path, int fd);

#endif
