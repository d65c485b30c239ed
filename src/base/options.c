// SPDX-License-Identifier: Apache-2.0
// The option parser: walks argv, finds each option's row, checks and stores its argument. Called by
// the subcommands. Does not know any of them, print, or exit. Threads: no shared state.
#include "base/options.h"

#include "base/nearest.h"
#include "base/number.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAMES_MOST 64u // options of one command, for suggestions

struct parse {
    const struct options_command *command;
    int argc, next; // next: index of the word to look at
    char **argv;
    void *into;
    struct err *e;
};

// An option as the person wrote it.
struct use {
    const struct option_spec *spec;
    char shown[80];       // "--output" or "-o", for messages
    const char *attached; // the argument written together with it, or NULL
};

static const struct option_spec *find_long(
    const struct option_spec *specs, const char *name, size_t length_bytes)
{
    for (; specs->name; specs++)
        if (strlen(specs->name) == length_bytes && memcmp(specs->name, name, length_bytes) == 0)
            return specs;
    return NULL;
}

static const struct option_spec *find_short(const struct option_spec *specs, char name)
{
    for (; specs->name; specs++)
        if (specs->short_name && specs->short_name == name)
            return specs;
    return NULL;
}

static int refuse_unknown(struct parse *p, const char *shown)
{
    const char *names[NAMES_MOST + 1];
    size_t count = 0;
    for (const struct option_spec *s = p->command->specs; s->name && count < NAMES_MOST; s++)
        names[count++] = s->name;
    names[count] = NULL;
    char name[80];
    snprintf(name, sizeof name, "%s", shown + strspn(shown, "-"));
    name[strcspn(name, "=")] = 0;
    const char *near = nearest_word(name, names);
    if (near)
        return err_set(p->e,
            "there is no option '%s'. Did you mean '--%s'? See lightmeter help %s.", shown, near,
            p->command->name);
    return err_set(
        p->e, "there is no option '%s'. See lightmeter help %s.", shown, p->command->name);
}

static int outside_bounds(const struct option_spec *s, double value)
{
    return (s->least || s->most) && (value < (double)s->least || value > (double)s->most);
}

static int refuse_value(struct parse *p, const struct use *u, const char *value, const char *wanted)
{
    const struct option_spec *s = u->spec;
    char bounds[80] = "";
    if (s->kind == OPTION_TIME && s->least)
        snprintf(bounds, sizeof bounds, " of at least %g s", (double)s->least / 1e9);
    else if (s->kind != OPTION_CHOICE && (s->least || s->most))
        snprintf(bounds, sizeof bounds, " from %" PRId64 " to %" PRId64, s->least, s->most);
    return err_set(p->e, "%s: '%s' is not %s%s. See lightmeter help %s.", u->shown, value, wanted,
        bounds, p->command->name);
}

static int store_choice(struct parse *p, const struct use *u, const char *value, const char **into)
{
    struct buf all = {0};
    for (const char *const *c = u->spec->choices; *c; c++) {
        if (strcmp(*c, value) == 0) {
            *into = *c;
            buf_fini(&all);
            return 0;
        }
        buf_printf(&all, "%s%s", all.length_bytes ? ", " : "one of ", *c);
    }
    int result = refuse_value(p, u, value, buf_text(&all));
    buf_fini(&all);
    return result;
}

static int store_number(struct parse *p, const struct use *u, const char *value, void *into)
{
    if (u->spec->kind == OPTION_INT) {
        int64_t number;
        if (number_parse_int(value, &number) != 0 ||
            ((u->spec->least || u->spec->most) &&
                (number < u->spec->least || number > u->spec->most)))
            return refuse_value(p, u, value, "a whole number");
        memcpy(into, &number, sizeof number);
    } else if (u->spec->kind == OPTION_REAL) {
        double number;
        if (number_parse_real(value, &number) != 0 || outside_bounds(u->spec, number))
            return refuse_value(p, u, value, "a number");
        memcpy(into, &number, sizeof number);
    } else if (u->spec->kind == OPTION_TIME) {
        uint64_t number;
        if (number_parse_time(value, &number) != 0 || outside_bounds(u->spec, (double)number))
            return refuse_value(p, u, value, "a length of time (say 60s, 1.5m or 2h)");
        memcpy(into, &number, sizeof number);
    } else {
        uint64_t number;
        if (number_parse_bytes(value, &number) != 0 || outside_bounds(u->spec, (double)number))
            return refuse_value(p, u, value, "a size in bytes (say 512M, 2GiB or 1000000)");
        memcpy(into, &number, sizeof number);
    }
    return 0;
}

static int store(struct parse *p, const struct use *u, const char *value)
{
    void *into = (char *)p->into + u->spec->offset;
    switch (u->spec->kind) {
    case OPTION_FLAG:
        *(int *)into = 1;
        return 0;
    case OPTION_STRING:
        *(const char **)into = value;
        return 0;
    case OPTION_LIST:
        *vec_push((struct option_list *)into) = value;
        return 0;
    case OPTION_CHOICE:
        return store_choice(p, u, value, into);
    case OPTION_CALL:
        return u->spec->take_fn(p->into, value, p->e);
    case OPTION_INT:
    case OPTION_REAL:
    case OPTION_BYTES:
    case OPTION_TIME:
    case OPTION_KIND_COUNT:
        break;
    }
    return store_number(p, u, value, into);
}

// Whether `word` is one of the command's own options, so hardly meant as an argument.
static int is_known_option(const struct parse *p, const char *word)
{
    const struct option_spec *specs = p->command->specs;
    return strncmp(word, "--", 2) == 0 &&
           (!word[2] || find_long(specs, word + 2, strcspn(word + 2, "=")));
}

static int take(struct parse *p, const struct use *u)
{
    if (!u->spec->argument_name) {
        if (u->attached)
            return err_set(p->e, "%s takes no argument, but got '%s'. See lightmeter help %s.",
                u->shown, u->attached, p->command->name);
        return store(p, u, NULL);
    }
    const char *value = u->attached;
    if (!value && p->next < p->argc && !is_known_option(p, p->argv[p->next]))
        value = p->argv[p->next++];
    if (!value)
        return err_set(p->e, "%s needs an argument: %s %s. See lightmeter help %s.", u->shown,
            u->shown, u->spec->argument_name, p->command->name);
    return store(p, u, value);
}

static int take_long(struct parse *p, const char *word)
{
    size_t length = strcspn(word + 2, "=");
    struct use u = {.spec = find_long(p->command->specs, word + 2, length)};
    if (!u.spec)
        return refuse_unknown(p, word);
    snprintf(u.shown, sizeof u.shown, "--%s", u.spec->name);
    if (word[2 + length] == '=')
        u.attached = word + 2 + length + 1;
    return take(p, &u);
}

// A word of short options: flags, of which the last may be one with an argument.
static int take_short(struct parse *p, const char *word)
{
    for (const char *c = word + 1; *c; c++) {
        struct use u = {.spec = find_short(p->command->specs, *c)};
        if (!u.spec)
            return refuse_unknown(p, word);
        snprintf(u.shown, sizeof u.shown, "-%c", *c);
        if (!u.spec->argument_name) {
            if (take(p, &u) != 0)
                return -1;
            continue;
        }
        u.attached = c[1] ? c + 1 : NULL;
        return take(p, &u);
    }
    return 0;
}

// Moves the operand at `from` down to `to`, over the option words between, which keep their order.
static void move_down(char **argv, int from, int to)
{
    char *operand = argv[from];
    memmove(&argv[to + 1], &argv[to], (size_t)(from - to) * sizeof *argv);
    argv[to] = operand;
}

// Brings the `count` operands, which stand at argv[1..count], behind the option words up to `end`.
static void move_behind(char **argv, int count, int end)
{
    for (int i = 0; i < count; i++) {
        char *operand = argv[1];
        memmove(&argv[1], &argv[2], (size_t)(end - 2) * sizeof *argv);
        argv[end - 1] = operand;
    }
}

int options_parse(
    const struct options_command *command, int argc, char **argv, void *into, struct err *e)
{
    struct parse p = {
        .command = command, .argc = argc, .next = 1, .argv = argv, .into = into, .e = e};
    int operands = 0; // gathered at argv[1..operands] while walking
    while (p.next < argc) {
        char *word = argv[p.next];
        if (strcmp(word, "--") == 0) {
            p.next++;
            break;
        }
        if (word[0] != '-' || !word[1]) {
            if (command->stops_at_operand)
                break;
            move_down(argv, p.next++, ++operands);
            continue;
        }
        p.next++;
        if ((word[1] == '-' ? take_long(&p, word) : take_short(&p, word)) != 0)
            return -1;
    }
    if (operands)
        move_behind(argv, operands, p.next);
    return p.next - operands;
}

void option_list_fini(struct option_list *list)
{
    vec_fini(list);
}
