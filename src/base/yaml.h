// SPDX-License-Identifier: Apache-2.0
// YAML files (stage maps, configurations) read into JSON trees. The only file pair that knows the
// YAML library (libyaml). Reads the part of YAML that JSON can say; the rest is refused with line
// and column. Running out of memory ends the process with a message. Threads: no shared state.
#ifndef LIGHTMETER_BASE_YAML_H
#define LIGHTMETER_BASE_YAML_H

#include "base/err.h"
#include "base/json.h"

#include <stddef.h>

// Parses one document; the caller owns the tree (json_free). An empty one gives null. Plain scalars
// become null (null, ~, nothing), booleans (true, false), integers (also 0x and 0o) and reals;
// others and quoted ones are strings. Keys are always strings. NULL with a message
// `name:line:column: ...` for bad syntax or UTF-8, repeated keys, keys that are not scalars,
// anchors and aliases, tags (but
// !!str), a second document, a NUL, an integer out of range, .inf and .nan, and nesting over 64.
struct json *yaml_parse(const char *text, size_t length_bytes, const char *name, struct err *e);

// Where a value of a mapping stands in a text that yaml_parse accepted, for messages about its
// meaning. Lines and columns count from 1.
struct yaml_place {
    size_t key_line, key_column;
    size_t line, column; // of the value
};

// Finds the value behind `keys` (from the outermost mapping inwards, at least one, ended by NULL).
// 0, or -1 when there is none.
int yaml_locate(
    const char *text, size_t length_bytes, const char *const *keys, struct yaml_place *place);

#endif
