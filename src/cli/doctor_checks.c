// SPDX-License-Identifier: Apache-2.0
// Tries a whole run on a small program and looks at the trace it leaves. Called by `doctor`. Leaves
// nothing behind. Threads: one owner.
#include "cli/doctor.h"

#include "base/file.h"
#include "collect/run.h"
#include "model/load.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const doctor_hook_sets[] = {
#define ROW(name) #name,
#include "agent/bridges/registry.def"
#include "agent/hooks/registry.def"
#undef ROW
    "python",
    NULL,
};

struct doctor_row *doctor_add(struct doctor *d, const char *name, enum doctor_state state)
{
    struct doctor_row *row = vec_push(&d->rows);
    row->name = name;
    row->state = state;
    return row;
}

void doctor_fini(struct doctor *d)
{
    for (size_t i = 0; i < d->rows.count; i++) {
        buf_fini(&d->rows.at[i].what);
        buf_fini(&d->rows.at[i].advice);
    }
    vec_fini(&d->rows);
}

static void check_switch_test(struct doctor *d, enum trace_split_method method)
{
    struct doctor_row *row = doctor_add(d, "cost split", DOCTOR_WORKS);
    switch (method) {
    case TRACE_SPLIT_RSEQ:
        buf_puts(&row->what,
            "CPU and waiting are told apart by the restartable-sequence area: free "
            "while a thread is not switched out");
        return;
    case TRACE_SPLIT_PERF_PAGE:
        row->state = DOCTOR_LIMITED;
        buf_puts(&row->what,
            "CPU and waiting are told apart by a perf event's page: some memory and "
            "tens of microseconds a thread");
        break;
    case TRACE_SPLIT_CPU_CLOCK:
        row->state = DOCTOR_LIMITED;
        buf_puts(&row->what, "CPU and waiting are told apart by the thread's CPU clock, which "
                             "costs about 0.4 us a call");
        break;
    default:
        row->state = DOCTOR_MISSING;
        buf_puts(&row->what, "CPU and waiting cannot be told apart: wall time only");
    }
    buf_puts(&row->advice,
        "glibc 2.35 or later with a kernel from 4.18 on has the free test; unset "
        "GLIBC_TUNABLES=glibc.pthread.rseq=0 if it is set");
}

// The process of the probe in which the library came up, or NULL.
static const struct model_process *find_seen(const struct model *m)
{
    for (size_t i = 0; i < m->processes.count; i++)
        if (m->processes.at[i].has_agent)
            return &m->processes.at[i];
    return NULL;
}

static void judge_probe(struct doctor *d, const char *trace, const struct collect_result *r)
{
    struct err e = {0};
    struct model *m = model_load(trace, &e);
    const struct model_process *seen = m ? find_seen(m) : NULL;
    if (seen) {
        struct doctor_row *row = doctor_add(d, "preloaded library", DOCTOR_WORKS);
        buf_puts(&row->what, "came up in a small program, and its records came back");
        check_switch_test(d, seen->split_method);
    } else {
        struct doctor_row *row = doctor_add(d, "preloaded library", DOCTOR_MISSING);
        buf_printf(&row->what, "did not come up in /bin/true%s%s%s%s", e.text[0] ? ": " : "",
            err_text(&e), r->losses.length_bytes ? ": " : "", buf_text(&r->losses));
        for (size_t i = 0; m && i < m->notes.count; i++)
            buf_printf(&row->what, "; %s", m->notes.at[i]);
        buf_puts(
            &row->advice, "run `LD_DEBUG=libs lightmeter run -- true` to see what the loader does");
    }
    model_free(&m);
}

static void run_probe(struct doctor *d, const char *folder)
{
    static char program[] = "/bin/true";
    static char *argv[] = {program, NULL};
    struct buf trace = {0};
    struct err e = {0};
    struct collect_result r = {0};
    buf_printf(&trace, "%s/probe.lmt", folder);
    const struct collect_options o = {.argv = argv, .output = buf_text(&trace)};
    if (collect_run(&o, &r, &e) < 0) {
        struct doctor_row *row = doctor_add(d, "preloaded library", DOCTOR_MISSING);
        buf_printf(&row->what, "a run of %s fails: %s", program, err_text(&e));
        buf_puts(&row->advice, "see the message");
    } else {
        judge_probe(d, buf_text(&r.trace), &r);
    }
    collect_result_fini(&r);
    buf_fini(&trace);
}

void doctor_check_agent(struct doctor *d)
{
    struct err e = {0};
    struct buf path = {0}, folder = {0};
    const char *temporary = getenv("TMPDIR");
    buf_printf(
        &folder, "%s/lightmeter-doctor-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (collect_agent_find(&path, &e) < 0) {
        struct doctor_row *row = doctor_add(d, "preloaded library", DOCTOR_MISSING);
        buf_puts(&row->what, err_text(&e));
        buf_puts(&row->advice, "without it a run knows only what /proc shows");
    } else if (!mkdtemp(folder.at)) {
        struct doctor_row *row = doctor_add(d, "preloaded library", DOCTOR_MISSING);
        buf_printf(
            &row->what, "not tried: no folder can be made in %s", temporary ? temporary : "/tmp");
        buf_puts(&row->advice, "name a folder that can be written in TMPDIR");
    } else {
        run_probe(d, buf_text(&folder));
        (void)file_remove_tree(buf_text(&folder), &e);
    }
    buf_fini(&path);
    buf_fini(&folder);
}
