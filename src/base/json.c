// SPDX-License-Identifier: Apache-2.0
// JSON trees on top of jansson, which is known here only: a struct json is a jansson value. Called
// wherever JSON is made or read. Printing is ours, so that numbers come out shortest and in every
// locale alike. Threads: one owner per tree.
#include <jansson.h>

// jansson's own functions, caught before base/json.h gives their names to ours.
static json_t *library_object(void)
{
    return json_object();
}

static json_t *library_array(void)
{
    return json_array();
}

static json_t *library_string(const char *text, size_t length_bytes)
{
    return json_stringn_nocheck(text, length_bytes);
}

static json_t *library_real(double value)
{
    return json_real(value);
}

static json_t *library_null(void)
{
    return json_null();
}

#undef json_is_object
#undef json_is_array
#include "base/heap.h"
#include "base/json.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Deeper trees are not printed: only a defect of ours can build one.
#define PRINT_DEPTH_MOST 4096u

static json_t *inside(const struct json *value)
{
    union {
        const struct json *from;
        json_t *to;
    } cast = {.from = value};
    return cast.to;
}

static struct json *outside(json_t *value)
{
    return (struct json *)value;
}

static struct json *made(json_t *value)
{
    if (!value)
        heap_exhausted(sizeof(json_t));
    return outside(value);
}

struct json *json_object(void)
{
    return made(library_object());
}

struct json *json_array(void)
{
    return made(library_array());
}

struct json *json_string(const char *text)
{
    if (!text)
        return json_null();
    size_t length = strlen(text);
    if (utf8_is_valid(text, length))
        return made(library_string(text, length));
    struct buf repaired = {0};
    utf8_repair(text, length, &repaired);
    struct json *value = made(library_string(buf_text(&repaired), repaired.length_bytes));
    buf_fini(&repaired);
    return value;
}

struct json *json_int(int64_t value)
{
    return made(json_integer(value));
}

struct json *json_real(double value)
{
    return isfinite(value) ? made(library_real(value)) : json_null();
}

struct json *json_bool(int value)
{
    return made(value ? json_true() : json_false());
}

struct json *json_null(void)
{
    return made(library_null());
}

void json_put(struct json *object, const char *key, struct json *value)
{
    struct buf repaired = {0};
    if (!utf8_is_valid(key, strlen(key))) {
        utf8_repair(key, strlen(key), &repaired);
        key = buf_text(&repaired);
    }
    if (json_object_set_new_nocheck(inside(object), key, inside(value)) != 0)
        heap_exhausted(strlen(key));
    buf_fini(&repaired);
}

void json_append(struct json *array, struct json *value)
{
    if (json_array_append_new(inside(array), inside(value)) != 0)
        heap_exhausted(sizeof(json_t *));
}

void json_put_string(struct json *object, const char *key, const char *text)
{
    json_put(object, key, json_string(text));
}

void json_put_int(struct json *object, const char *key, int64_t value)
{
    json_put(object, key, json_int(value));
}

void json_put_real(struct json *object, const char *key, double value)
{
    json_put(object, key, json_real(value));
}

void json_put_bool(struct json *object, const char *key, int value)
{
    json_put(object, key, json_bool(value));
}

struct json *json_get(const struct json *object, const char *key)
{
    return outside(json_object_get(inside(object), key));
}

struct json *json_at(const struct json *array, size_t index)
{
    return outside(json_array_get(inside(array), index));
}

size_t json_count(const struct json *object_or_array)
{
    json_t *value = inside(object_or_array);
    return json_is_object(object_or_array) ? json_object_size(value) : json_array_size(value);
}

const char *json_text(const struct json *value, const char *fallback)
{
    const char *text = value ? json_string_value(inside(value)) : NULL;
    return text ? text : fallback;
}

double json_number(const struct json *value, double fallback)
{
    return value && json_is_number(inside(value)) ? json_number_value(inside(value)) : fallback;
}

const char *json_get_string(const struct json *object, const char *key, const char *fallback)
{
    return json_text(json_get(object, key), fallback);
}

int64_t json_get_int(const struct json *object, const char *key, int64_t fallback)
{
    json_t *value = inside(json_get(object, key));
    return value && json_is_integer(value) ? json_integer_value(value) : fallback;
}

double json_get_real(const struct json *object, const char *key, double fallback)
{
    return json_number(json_get(object, key), fallback);
}

int json_get_bool(const struct json *object, const char *key, int fallback)
{
    json_t *value = inside(json_get(object, key));
    return value && json_is_boolean(value) ? json_is_true(value) : fallback;
}

int json_is_object(const struct json *value)
{
    return value && json_typeof(inside(value)) == JSON_OBJECT;
}

int json_is_array(const struct json *value)
{
    return value && json_typeof(inside(value)) == JSON_ARRAY;
}

void *json_first(const struct json *object)
{
    return json_object_iter(inside(object));
}

void *json_next(const struct json *object, void *it)
{
    return json_object_iter_next(inside(object), it);
}

const char *json_key(void *it)
{
    return json_object_iter_key(it);
}

struct json *json_value(void *it)
{
    return outside(json_object_iter_value(it));
}

static void print_string(const char *text, size_t length_bytes, struct buf *out)
{
    buf_putc(out, '"');
    size_t done = 0;
    for (size_t i = 0; i < length_bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
            continue;
        buf_add(out, text + done, i - done);
        done = i + 1;
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '\n')
            buf_puts(out, "\\n");
        else if (c == '\t')
            buf_puts(out, "\\t");
        else
            buf_printf(out, "\\u%04x", c);
    }
    buf_add(out, text + done, length_bytes - done);
    buf_putc(out, '"');
}

// The fewest digits that read back as the same number, with a point, and with ".0" when it would
// look like an integer.
static void print_real(double value, struct buf *out)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    const char *point = localeconv()->decimal_point;
    char *at = strcmp(point, ".") != 0 ? strstr(text, point) : NULL;
    if (at) {
        memmove(at + 1, at + strlen(point), strlen(at + strlen(point)) + 1);
        *at = '.';
    }
    buf_puts(out, text);
    if (!strpbrk(text, ".e"))
        buf_puts(out, ".0");
}

static void print_break(int indent, unsigned depth, struct buf *out)
{
    if (!indent)
        return;
    buf_putc(out, '\n');
    for (unsigned i = 0; i < depth * (unsigned)indent; i++)
        buf_putc(out, ' ');
}

static void print(json_t *value, int indent, unsigned depth, struct buf *out);

static void print_object(json_t *object, int indent, unsigned depth, struct buf *out)
{
    const char *separator = "{";
    for (void *it = json_object_iter(object); it; it = json_object_iter_next(object, it)) {
        buf_puts(out, separator);
        print_break(indent, depth + 1, out);
        const char *key = json_object_iter_key(it);
        print_string(key, strlen(key), out);
        buf_puts(out, indent ? ": " : ":");
        print(json_object_iter_value(it), indent, depth + 1, out);
        separator = ",";
    }
    if (*separator == ',')
        print_break(indent, depth, out);
    buf_puts(out, *separator == ',' ? "}" : "{}");
}

static void print_array(json_t *array, int indent, unsigned depth, struct buf *out)
{
    size_t count = json_array_size(array);
    buf_putc(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_putc(out, ',');
        print_break(indent, depth + 1, out);
        print(json_array_get(array, i), indent, depth + 1, out);
    }
    if (count)
        print_break(indent, depth, out);
    buf_putc(out, ']');
}

static void print(json_t *value, int indent, unsigned depth, struct buf *out)
{
    if (!value || depth > PRINT_DEPTH_MOST) {
        buf_puts(out, "null");
        return;
    }
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        print_object(value, indent, depth, out);
        break;
    case JSON_ARRAY:
        print_array(value, indent, depth, out);
        break;
    case JSON_STRING:
        print_string(json_string_value(value), json_string_length(value), out);
        break;
    case JSON_INTEGER:
        buf_printf(out, "%" PRId64, (int64_t)json_integer_value(value));
        break;
    case JSON_REAL:
        print_real(json_real_value(value), out);
        break;
    default:
        buf_puts(out, json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null");
        break;
    }
}

void json_print(const struct json *value, int indent, struct buf *out)
{
    print(inside(value), indent, 0, out);
    if (indent)
        buf_putc(out, '\n');
}

// jansson lets a NUL between values pass.
static int refuse_nul(const char *text, size_t length_bytes, const char *name, struct err *e)
{
    const char *nul = length_bytes ? memchr(text, 0, length_bytes) : NULL;
    if (!nul)
        return 0;
    size_t line = 1;
    const char *start = text;
    for (const char *c; (c = memchr(start, '\n', (size_t)(nul - start))); start = c + 1)
        line++;
    return err_set(e, "%s:%zu:%zu: not valid JSON: a NUL byte. Mend the file or make it anew.",
        name, line, (size_t)(nul - start) + 1);
}

struct json *json_parse(const char *text, size_t length_bytes, const char *name, struct err *e)
{
    json_error_t error;
    if (refuse_nul(text, length_bytes, name, e) != 0)
        return NULL;
    size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
    json_t *value = json_loadb(text, length_bytes, flags, &error);
    if (value)
        return outside(value);
    err_set(e, "%s:%d:%d: not valid JSON: %s. Mend the file or make it anew.", name, error.line,
        error.column, error.text);
    return NULL;
}

void json_free(struct json **value)
{
    if (!value || !*value)
        return;
    json_decref(inside(*value));
    *value = NULL;
}
