// SPDX-License-Identifier: Apache-2.0
// How Lightmeter's shim comes into Python programs: a folder in front of PYTHONPATH, whose
// sitecustomize the interpreter imports as it starts. Called by the launcher. Threads: no shared
// state.
#ifndef LIGHTMETER_COLLECT_PYTHON_SHIM_H
#define LIGHTMETER_COLLECT_PYTHON_SHIM_H

#include "base/buf.h"

// Appends the value of PYTHONPATH for the target: the folder beside `agent` (a path), and `old`
// (NULL: unset). 0 when there is no shim beside it.
int python_shim_path(const char *agent, const char *old, struct buf *out);

#endif
