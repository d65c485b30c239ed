// SPDX-License-Identifier: Apache-2.0
// JSON values, built in memory, printed, and parsed with limits. The only file pair that knows the
// JSON library (jansson). Numbers: 64-bit integers and doubles; NaN and infinities become null.
// Running out of memory ends the process with a message. Threads: one owner per tree.
#ifndef LIGHTMETER_BASE_JSON_H
#define LIGHTMETER_BASE_JSON_H

#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

// The JSON library exports functions of these five names; ours keep apart from them at link time.
#define json_object json_tree_object
#define json_array json_tree_array
#define json_string json_tree_string
#define json_real json_tree_real
#define json_null json_tree_null

struct json; // one value

// New values; each is owned by the caller until it is put into an object or array, which takes it.
struct json *json_object(void);
struct json *json_array(void);
// Invalid UTF-8 bytes of a string are replaced by U+FFFD; a NULL text gives null.
struct json *json_string(const char *text);
struct json *json_int(int64_t value);
struct json *json_real(double value);
struct json *json_bool(int value);
struct json *json_null(void);

// Puts `value` (taken) under `key`, in insertion order, in place of an older one / at the end.
void json_put(struct json *object, const char *key, struct json *value);
void json_append(struct json *array, struct json *value);

// Shorthands.
void json_put_string(struct json *object, const char *key, const char *text);
void json_put_int(struct json *object, const char *key, int64_t value);
void json_put_real(struct json *object, const char *key, double value);
void json_put_bool(struct json *object, const char *key, int value);

// Borrowed views; NULL or the fallback when absent or of another type. `json` may be NULL.
struct json *json_get(const struct json *object, const char *key);
struct json *json_at(const struct json *array, size_t index);
size_t json_count(const struct json *object_or_array);
const char *json_get_string(const struct json *object, const char *key, const char *fallback);
int64_t json_get_int(const struct json *object, const char *key, int64_t fallback);
double json_get_real(const struct json *object, const char *key, double fallback); // or integers
int json_get_bool(const struct json *object, const char *key, int fallback);
const char *json_text(const struct json *value, const char *fallback); // of a string value
double json_number(const struct json *value, double fallback);
int json_is_object(const struct json *value);
int json_is_array(const struct json *value);
// Iterates an object in insertion order: for (it = json_first(o); it; it = json_next(o, it)).
void *json_first(const struct json *object);
void *json_next(const struct json *object, void *it);
const char *json_key(void *it);
struct json *json_value(void *it);

// Prints compactly (indent 0) or with `indent` spaces, with a final newline when indented.
void json_print(const struct json *value, int indent, struct buf *out);

// Parses exactly one value. NULL with a message that names `name`, line and column. Errors: bad
// syntax or UTF-8, a NUL, a repeated key, a number out of range, nesting deeper than 2,048.
struct json *json_parse(const char *text, size_t length_bytes, const char *name, struct err *e);

void json_free(struct json **value); // accepts NULL

#endif
