// SPDX-License-Identifier: Apache-2.0
// Prints the tables of the hook sets and bridges, one tab-separated line for each thing:
//   set NAME HELP LIBRARIES|- broad|-     a set; LIBRARIES with commas, none of libc's
//   call SYMBOL slot|libc ATTRIBUTES|- virtual|-     a function of the set above
//   name TEXT STAGE CAUSE always|short|-     what the call above is recorded as; none: not timed
//   bridge NAME HELP INTERFACE VARIABLE
//   slots USED ALL     of the agent's symbol table
// Read by test_hooks_symbols.py, agent_trace.py and tools/hooks_doc.py. Runs nothing of the agent.
#include "agent/bridge.h"
#include "agent/hook.h"
#include "agent/symbols.h"

#include <assert.h>
#include <stdio.h>

// As docs/trace-format.md and `lightmeter dump` call them.
static const char *const keys[] = {"none", "bytes", "shape", "scale", "item", "caller", "source",
    "open", "file", "offset", "resident", "colour", "filter", "dtype", "elements", "session",
    "input", "output", "threads", "faults", "fresh", "accel", "pts", "calls_of", "elapsed"};
static_assert(sizeof keys / sizeof *keys == TRACE_ATTR_KEY_COUNT, "a word for each attribute");
static const char *const causes[TRACE_CAUSE_COUNT] = {
    "other", "io", "net", "lock", "gil", "accel", "sleep"};

static void print_attrs(uint32_t attrs)
{
    const char *gap = "";
    for (unsigned key = 0; key < TRACE_ATTR_KEY_COUNT; key++) {
        if (!(attrs >> key & 1))
            continue;
        printf("%s%s", gap, keys[key]);
        gap = ",";
    }
    printf("%s\t%s\n", *gap ? "" : "-", attrs & HOOK_VIRTUAL ? "virtual" : "-");
}

static void print_call(const struct hook_function *f)
{
    printf("call\t%s\t%s\t", f->symbol, f->thunks ? "slot" : "libc");
    print_attrs(f->attrs);
    for (unsigned i = 0; i < f->name_count; i++) {
        const struct hook_name *n = &f->names[i];
        printf("name\t%s\t%s\t%s\t%s\n", n->text, n->stage, causes[n->cause],
            n->flags & AGENT_FOLD         ? "always"
            : n->flags & AGENT_FOLD_SHORT ? "short"
                                          : "-");
    }
}

static unsigned print_set(const struct hook_set *s)
{
    unsigned slots = 0;
    printf("set\t%s\t%s\t", s->name, s->help);
    for (const char *const *library = s->libraries; library && *library; library++)
        printf("%s%s", library == s->libraries ? "" : ",", *library);
    printf("%s\t%s\n", s->libraries ? "" : "-", s->is_named_broadly ? "broad" : "-");
    for (const struct hook_function *f = s->functions; f && f->symbol; f++) {
        print_call(f);
        slots += f->thunks != NULL;
    }
    return slots;
}

int main(void)
{
    unsigned slots = 0;
    for (int set = 0; hook_sets[set]; set++)
        slots += print_set(hook_sets[set]);
    for (int i = 0; bridges[i]; i++)
        printf("bridge\t%s\t%s\t%s\t%s\n", bridges[i]->name, bridges[i]->help, bridges[i]->shown,
            bridges[i]->variable);
    printf("slots\t%u\t%u\n", slots, SYMBOLS_SLOTS);
    return 0;
}
