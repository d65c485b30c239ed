// SPDX-License-Identifier: Apache-2.0
// Fills a model from a trace file. Reads up to the damage of a damaged trace and says so in
// model.damage. Threads: no shared state.
#ifndef LIGHTMETER_MODEL_LOAD_H
#define LIGHTMETER_MODEL_LOAD_H

#include "base/err.h"
#include "model/model.h"

// A new model owned by the caller, or NULL with a message when nothing could be read.
struct model *model_load(const char *path, struct err *e);

// The same for a trace in memory; `name` is for messages.
struct model *model_load_bytes(
    const void *bytes, size_t length_bytes, const char *name, struct err *e);

#endif
