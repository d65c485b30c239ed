// SPDX-License-Identifier: Apache-2.0
// Builds JSON trees from libyaml's events. Called for every YAML file a person gives us. Does not
// expand aliases, which can blow a small file up. Threads: no shared state.
#include "base/yaml.h"

#include "base/heap.h"
#include "base/number.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define DEPTH_MOST 64

// A mapping or sequence that is still open.
struct level {
    struct json *value; // owned until it is put into the level above
    char *key;          // of a mapping: the key that waits for its value; owned
};

struct build {
    const char *name;
    struct err *e;
    struct level levels[DEPTH_MOST];
    int depth;
    int documents;
    struct json *root; // once complete
};

static int refuse(struct build *b, yaml_mark_t at, const char *what)
{
    return err_set(b->e, "%s:%zu:%zu: %s", b->name, at.line + 1, at.column + 1, what);
}

static int is_mapping(const struct level *level)
{
    return json_is_object(level->value);
}

// Puts a complete value where it belongs; takes it.
static void place(struct build *b, struct json *value)
{
    if (b->depth == 0) {
        b->root = value;
        return;
    }
    struct level *level = &b->levels[b->depth - 1];
    if (is_mapping(level)) {
        json_put(level->value, level->key, value);
        free(level->key);
        level->key = NULL;
    } else {
        json_append(level->value, value);
    }
}

static int open_level(struct build *b, const yaml_event_t *event, struct json *value)
{
    struct level *above = b->depth ? &b->levels[b->depth - 1] : NULL;
    const char *wrong = NULL;
    if (b->depth == DEPTH_MOST)
        wrong = "nested deeper than 64 levels. Flatten the file.";
    else if (above && is_mapping(above) && !above->key)
        wrong = "a list or mapping cannot be a key here. Write a plain name.";
    if (wrong) {
        json_free(&value);
        return refuse(b, event->start_mark, wrong);
    }
    b->levels[b->depth++] = (struct level){.value = value};
    return 0;
}

static void close_level(struct build *b)
{
    struct json *value = b->levels[--b->depth].value;
    b->levels[b->depth].value = NULL;
    place(b, value);
}

static int take_key(struct build *b, const yaml_event_t *event, struct level *level)
{
    const char *key = (const char *)event->data.scalar.value;
    if (json_get(level->value, key))
        return err_set(b->e,
            "%s:%zu:%zu: the key '%s' is there twice. Remove or rename one of them.", b->name,
            event->start_mark.line + 1, event->start_mark.column + 1, key);
    size_t room = event->data.scalar.length + 1;
    level->key = heap_alloc(room, 1);
    memcpy(level->key, key, room);
    return 0;
}

// Whether the text looks like a whole number in base 10, 16 (0x) or 8 (0o).
static int looks_whole(const char *text)
{
    const char *start = text + (*text == '-' || *text == '+');
    if (*text == '0' && text[1] == 'x')
        return text[2] && !text[2 + strspn(text + 2, "0123456789abcdefABCDEF")];
    if (*text == '0' && text[1] == 'o')
        return text[2] && !text[2 + strspn(text + 2, "01234567")];
    return *start && !start[strspn(start, "0123456789")];
}

static int parse_whole(const char *text, int64_t *value)
{
    uint64_t size = 0;
    if (text[0] == '0' && text[1] == 'x') {
        if (number_parse_hex(text + 2, &size) != 0)
            return -1;
    } else if (text[0] == '0' && text[1] == 'o') {
        for (text += 2; *text; text++) {
            if (size >> 60)
                return -1;
            size = size * 8 + (uint64_t)(*text - '0');
        }
    } else {
        return number_parse_int(text, value);
    }
    if (size > INT64_MAX)
        return -1;
    *value = (int64_t)size;
    return 0;
}

static int is_one_of(const char *text, const char *const *words)
{
    while (*words && strcmp(text, *words) != 0)
        words++;
    return *words != NULL;
}

// The value of an unquoted scalar, or NULL with a message.
static struct json *plain_value(struct build *b, const yaml_event_t *event)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const trues[] = {"true", "True", "TRUE", NULL};
    static const char *const falses[] = {"false", "False", "FALSE", NULL};
    static const char *const endless[] = {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF",
        "-.inf", "-.Inf", "-.INF", ".nan", ".NaN", ".NAN", NULL};
    const char *text = (const char *)event->data.scalar.value;
    int64_t whole;
    double real;
    if (is_one_of(text, nulls))
        return json_null();
    if (is_one_of(text, trues) || is_one_of(text, falses))
        return json_bool(is_one_of(text, trues));
    if (looks_whole(text)) {
        if (parse_whole(text, &whole) == 0)
            return json_int(whole);
        refuse(b, event->start_mark, "the number is out of range. Quote it if it is a name.");
        return NULL;
    }
    if (is_one_of(text, endless)) {
        refuse(b, event->start_mark, "only finite numbers are accepted. Quote it if it is a name.");
        return NULL;
    }
    if (number_parse_real(text, &real) == 0)
        return json_real(real);
    return json_string(text);
}

static int take_scalar(struct build *b, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    const char *tag = (const char *)event->data.scalar.tag;
    struct level *level = b->depth ? &b->levels[b->depth - 1] : NULL;
    int is_string = tag && (strcmp(tag, YAML_STR_TAG) == 0 || strcmp(tag, "!") == 0);
    if (event->data.scalar.anchor)
        return refuse(b, event->start_mark, "anchors (&name) are not accepted. Write it out.");
    if (tag && !is_string)
        return refuse(b, event->start_mark, "tags (!name) are not accepted. Remove the tag.");
    if (strlen(text) != event->data.scalar.length)
        return refuse(b, event->start_mark, "a NUL character is not accepted. Remove the \\0.");
    if (level && is_mapping(level) && !level->key)
        return take_key(b, event, level);
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || is_string) {
        place(b, json_string(text));
        return 0;
    }
    struct json *value = plain_value(b, event);
    if (!value)
        return -1;
    place(b, value);
    return 0;
}

static int take_start(struct build *b, const yaml_event_t *event)
{
    int is_map = event->type == YAML_MAPPING_START_EVENT;
    if (is_map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor)
        return refuse(b, event->start_mark, "anchors (&name) are not accepted. Write it out.");
    if (is_map ? event->data.mapping_start.tag : event->data.sequence_start.tag)
        return refuse(b, event->start_mark, "tags (!name) are not accepted. Remove the tag.");
    return open_level(b, event, is_map ? json_object() : json_array());
}

static int take(struct build *b, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (b->documents++)
            return refuse(b, event->start_mark, "a second document begins. Keep one in a file.");
        return 0;
    case YAML_ALIAS_EVENT:
        return refuse(b, event->start_mark, "aliases (*name) are not accepted. Write it out.");
    case YAML_SCALAR_EVENT:
        return take_scalar(b, event);
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        return take_start(b, event);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        close_level(b);
        return 0;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return 0;
}

static int refuse_syntax(struct build *b, const yaml_parser_t *parser)
{
    yaml_mark_t at = parser->problem_mark;
    if (parser->error == YAML_MEMORY_ERROR)
        heap_exhausted(0);
    return err_set(b->e, "%s:%zu:%zu: not valid YAML: %s%s%s. Mend the line.", b->name, at.line + 1,
        at.column + 1, parser->context ? parser->context : "", parser->context ? ": " : "",
        parser->problem ? parser->problem : "it cannot be read");
}

// libyaml's own message on bad UTF-8 has no line.
static int refuse_bad_text(struct build *b, const char *text, size_t length_bytes)
{
    size_t line = 1, column = 1;
    for (size_t i = 0, step; i < length_bytes; i += step) {
        uint32_t point;
        step = utf8_decode(text + i, length_bytes - i, &point);
        if (!step || !point)
            return err_set(b->e, "%s:%zu:%zu: %s. Save the file as UTF-8 text.", b->name, line,
                column, step ? "a NUL byte" : "a byte that is not UTF-8");
        line += point == '\n';
        column = point == '\n' ? 1 : column + 1;
    }
    return 0;
}

static int parse_events(struct build *b, yaml_parser_t *parser)
{
    for (int is_over = 0; !is_over;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return refuse_syntax(b, parser);
        int result = take(b, &event);
        is_over = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (result != 0)
            return -1;
    }
    return 0;
}

struct json *yaml_parse(const char *text, size_t length_bytes, const char *name, struct err *e)
{
    struct build b = {.name = name, .e = e};
    yaml_parser_t parser;
    if (refuse_bad_text(&b, text, length_bytes) != 0)
        return NULL;
    if (!yaml_parser_initialize(&parser))
        heap_exhausted(sizeof parser);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length_bytes);
    int result = parse_events(&b, &parser);
    yaml_parser_delete(&parser);
    for (int i = 0; i < DEPTH_MOST; i++) {
        json_free(&b.levels[i].value);
        free(b.levels[i].key);
    }
    if (result != 0)
        json_free(&b.root);
    else if (!b.root)
        b.root = json_null();
    return b.root;
}

// Where the walk of yaml_locate is: only mappings along the path of keys matter.
struct walk {
    const char *const *keys;
    int depth;   // of open mappings and sequences
    int matched; // keys of the path that the open mappings match
    int is_map[DEPTH_MOST], has_key[DEPTH_MOST];
    int is_next_wanted; // the next value is that of keys[matched]
    struct yaml_place place;
};

// Takes one event; 1 when the value behind the whole path begins.
static int walk_step(struct walk *w, const yaml_event_t *event)
{
    const int top = w->depth - 1;
    const int is_end =
        event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT;
    const int is_start =
        event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT;
    if (is_end) {
        w->depth--;
        w->matched = w->matched > w->depth - 1 ? w->depth - 1 : w->matched;
        return 0;
    }
    if (!is_start && event->type != YAML_SCALAR_EVENT)
        return 0;
    if (!is_start && top >= 0 && w->is_map[top] && !w->has_key[top]) {
        w->has_key[top] = 1;
        w->is_next_wanted =
            w->matched == top && strcmp((const char *)event->data.scalar.value, w->keys[top]) == 0;
        w->place.key_line = event->start_mark.line + 1;
        w->place.key_column = event->start_mark.column + 1;
        return 0;
    }
    if (top >= 0)
        w->has_key[top] = 0;
    const int is_wanted = w->is_next_wanted;
    w->is_next_wanted = 0;
    if (is_wanted) {
        w->place.line = event->start_mark.line + 1;
        w->place.column = event->start_mark.column + 1;
        w->matched++;
        if (!w->keys[w->matched])
            return 1;
    }
    if (is_start) {
        w->is_map[w->depth] = event->type == YAML_MAPPING_START_EVENT;
        w->has_key[w->depth++] = 0;
    }
    return 0;
}

int yaml_locate(
    const char *text, size_t length_bytes, const char *const *keys, struct yaml_place *place)
{
    struct walk w = {.keys = keys};
    yaml_parser_t parser;
    int result = -1;
    if (!yaml_parser_initialize(&parser))
        heap_exhausted(sizeof parser);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length_bytes);
    for (int is_over = 0; !is_over && result != 0;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event))
            break;
        is_over = event.type == YAML_STREAM_END_EVENT || w.depth == DEPTH_MOST;
        if (!is_over && walk_step(&w, &event)) {
            *place = w.place;
            result = 0;
        }
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return result;
}
