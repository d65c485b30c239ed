// SPDX-License-Identifier: Apache-2.0
// Reads and checks a stage map, see stagemap.h. Each message names file, line and column. Called by
// `run` before the launch. Threads: no shared state.
#include "collect/stagemap.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_LIMIT_BYTES (1u << 20)

static const char *const sections[] = {"functions", "libraries", "ranges", NULL};

struct reading {
    const char *text;
    size_t length_bytes;
    const char *name; // of the file
    struct stagemap *map;
    struct err *e;
};

// `what` at the key (or the value) behind the one or two keys.
static int refuse(
    const struct reading *r, const char *section, const char *key, int at_value, const char *what)
{
    const char *const keys[] = {section, key, NULL};
    struct yaml_place place = {0};
    if (yaml_locate(r->text, r->length_bytes, keys, &place) < 0)
        return err_set(r->e, "%s: %s", r->name, what);
    return err_set(r->e, "%s:%zu:%zu: %s", r->name, at_value ? place.line : place.key_line,
        at_value ? place.column : place.key_column, what);
}

// Why the word cannot be a pattern or a stage, or NULL.
static const char *word_fault(const char *word, int may_have_blanks)
{
    if (!*word)
        return "is empty";
    if (strlen(word) > STAGEMAP_WORD_BYTES)
        return "is longer than 200 bytes";
    for (const unsigned char *c = (const unsigned char *)word; *c; c++)
        if (*c < ' ' || *c == 0x7f || (*c == ' ' && !may_have_blanks))
            return may_have_blanks ? "holds a control character"
                                   : "holds a blank or a control character";
    return may_have_blanks && *word == ' ' ? "begins with a blank" : NULL;
}

// Whether the library has cut such a number to '#' before it looks at the pattern (range_names.c).
static int has_number(const char *pattern)
{
    for (const char *c = pattern; *c; c++) {
        const int is_digit = *c >= '0' && *c <= '9';
        const int is_longer = is_digit && c[1] >= '0' && c[1] <= '9';
        const char before = c > pattern ? (char)(c[-1] | 0x20) : 0;
        if (is_digit && (is_longer || before < 'a' || before > 'z'))
            return 1;
    }
    return 0;
}

static int take_entry(
    const struct reading *r, const char *section, const char *pattern, const struct json *value)
{
    char what[400];
    const char *stage = json_text(value, NULL);
    const int is_range = strcmp(section, "ranges") == 0;
    const char *fault = word_fault(pattern, is_range);
    if (fault) {
        snprintf(what, sizeof what,
            "the pattern '%.100s' %s; write the name, with * and ? where it "
            "varies",
            pattern, fault);
        return refuse(r, section, pattern, 0, what);
    }
    if (is_range && has_number(pattern)) {
        snprintf(what, sizeof what,
            "the pattern '%.100s' holds a number; numbers in names of ranges are cut, so write # "
            "in its place",
            pattern);
        return refuse(r, section, pattern, 0, what);
    }
    if (!stage) {
        snprintf(what, sizeof what,
            "the stage of '%.100s' must be a word, such as decode; quote it if it looks like a "
            "number",
            pattern);
        return refuse(r, section, pattern, 1, what);
    }
    fault = word_fault(stage, 0);
    if (fault) {
        snprintf(
            what, sizeof what, "the stage '%.100s' %s; use one word, such as decode", stage, fault);
        return refuse(r, section, pattern, 1, what);
    }
    const size_t ranges = r->map->range_count;
    if ((is_range ? ranges : r->map->entries.count - ranges) == STAGEMAP_ENTRIES_LIMIT)
        return refuse(
            r, section, pattern, 0, "this is entry 129, and 128 is the most; use patterns with *");
    *vec_push(&r->map->entries) = (struct stagemap_entry){.pattern = strdup(pattern),
        .stage = strdup(stage),
        .is_library = strcmp(section, "libraries") == 0,
        .is_range = is_range};
    r->map->range_count += (size_t)is_range;
    return 0;
}

static int take_section(const struct reading *r, const char *section, const struct json *value)
{
    if (!json_is_object(value)) {
        char what[160];
        snprintf(what, sizeof what, "'%s' must hold lines of PATTERN: STAGE", section);
        return refuse(r, section, NULL, 1, what);
    }
    for (void *it = json_first(value); it; it = json_next(value, it))
        if (take_entry(r, section, json_key(it), json_value(it)) < 0)
            return -1;
    return 0;
}

static int take_key(const struct reading *r, const char *key, const struct json *value)
{
    for (size_t i = 0; sections[i]; i++)
        if (strcmp(key, sections[i]) == 0)
            return take_section(r, key, value);
    char what[400];
    const char *near = nearest_word(key, sections);
    snprintf(what, sizeof what,
        "there is no key '%.100s'%s%s%s; a stage map has functions, libraries and ranges", key,
        near ? ". Did you mean '" : "", near ? near : "", near ? "'?" : "");
    return refuse(r, key, NULL, 0, what);
}

int stagemap_parse(
    const char *text, size_t length_bytes, const char *name, struct stagemap *map, struct err *e)
{
    const struct reading r = {text, length_bytes, name, map, e};
    *map = (struct stagemap){0};
    struct json *tree = yaml_parse(text, length_bytes, name, e);
    if (!tree)
        return -1;
    int result = 0;
    if (!json_is_object(tree))
        result = err_set(
            e, "%s:1:1: a stage map begins with 'functions:', 'libraries:' or 'ranges:'", name);
    for (void *it = json_first(tree); it && result == 0; it = json_next(tree, it))
        result = take_key(&r, json_key(it), json_value(it));
    if (result == 0 && map->entries.count == 0)
        result = err_set(e,
            "%s:1:1: the stage map has no entries; write lines of PATTERN: STAGE under "
            "'functions:', 'libraries:' or 'ranges:'",
            name);
    json_free(&tree);
    if (result < 0)
        stagemap_fini(map);
    return result;
}

int stagemap_read(const char *path, struct stagemap *map, struct err *e)
{
    struct buf text = {0};
    *map = (struct stagemap){0};
    int result = file_read(path, FILE_LIMIT_BYTES, &text, e);
    if (result == 0)
        result = stagemap_parse(buf_text(&text), text.length_bytes, path, map, e);
    buf_fini(&text);
    return result;
}

void stagemap_fini(struct stagemap *map)
{
    for (size_t i = 0; i < map->entries.count; i++) {
        free(map->entries.at[i].pattern);
        free(map->entries.at[i].stage);
    }
    vec_fini(&map->entries);
}
