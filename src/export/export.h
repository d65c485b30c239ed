// SPDX-License-Identifier: Apache-2.0
// A run in the trace formats of other tools. Called by `lightmeter export`. Each exporter is one
// file of exporters/ and streams: besides the model it needs memory for one thread's order of
// events and for the items' flows. Does not analyse and loses no span. Threads: no shared state.
#ifndef LIGHTMETER_EXPORT_EXPORT_H
#define LIGHTMETER_EXPORT_EXPORT_H

#include "base/err.h"
#include "base/file.h"
#include "model/model.h"

struct exporter {
    const char *name;           // as in the registry
    const char *help;           // one line
    const char *file_extension; // of the file, with its dot: ".perfetto-trace"
    // Writes the run to `out`, which the caller commits or aborts. 0, or -1 with a message when
    // writing failed (a full disk).
    int (*write_fn)(const struct model *m, struct file_out *out, struct err *e);
};

// The exporter of that name, or NULL with a message that lists the names there are.
const struct exporter *exporter_find(const char *name, struct err *e);

// All exporters, in the registry's order, ended by NULL.
const struct exporter *const *exporter_all(void);

#endif
