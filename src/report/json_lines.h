// SPDX-License-Identifier: Apache-2.0
// Lines of Python code for the JSON report. Threads: no state.
#ifndef LIGHTMETER_REPORT_JSON_LINES_H
#define LIGHTMETER_REPORT_JSON_LINES_H

#include "analyze/facts.h"
#include "base/json.h"

// Those within a stage (`is_hot` 0), or those outside of all.
struct json *json_lines(const struct facts *f, int is_hot);

#endif
