// SPDX-License-Identifier: Apache-2.0
// The end of a run, see session.h. The order matters: processes are told to stop recording, then
// what they wrote is packed, then the summary, then the final name; only then is the directory
// removed. Whatever fails leaves the part file and the directory for `recover`. Threads: one owner.
#include "collect/session.h"

#include "base/clock.h"
#include "collect/handover.h"
#include "trace/records.h"
#include "trace/rundir.h"

#include <string.h>
#include <unistd.h>

static void add_text(struct buf *records, enum trace_text_use use, uint32_t subject,
    const char *text, size_t length_bytes)
{
    static const char zeros[TRACE_UNIT_BYTES];
    const struct trace_text head = {.kind = TRACE_TEXT,
        .use = (uint8_t)use,
        .length_bytes = (uint32_t)length_bytes,
        .subject = subject};
    buf_add(records, &head, sizeof head);
    buf_add(records, text, length_bytes);
    buf_add(records, zeros, -length_bytes % TRACE_UNIT_BYTES);
}

// A sentence for the report, where the user reads it.
static void say(struct buf *records, const struct buf *sentence)
{
    add_text(records, TRACE_TEXT_NOTE, 0, buf_text(sentence), sentence->length_bytes);
}

static void say_target(const struct session *s, struct buf *records)
{
    struct buf text = {0};
    int has_agent = drain_stats_get(s->drain)->processes > 0;
    if (s->target.why[0] && !has_agent)
        buf_printf(&text,
            "Nothing is known from inside: %s. CPU time, memory, faults and I/O of its processes "
            "come "
            "from /proc. To see inside, run a dynamically linked, unprivileged build for this "
            "machine.",
            s->target.why);
    else if (s->agent_missing.text[0])
        buf_printf(&text, "Nothing is known from inside: %s. What follows comes from /proc.",
            s->agent_missing.text);
    else if (s->agent.length_bytes && !has_agent)
        buf_puts(&text,
            "Nothing is known from inside: the preloaded library came up in no process. Either the "
            "program clears LD_PRELOAD, or it changed its user (the run directory is only its "
            "owner's), or a limit on the size of files (ulimit -f) is below 128 KiB; "
            "lightmeter doctor tries the library. What follows comes from /proc.");
    if (text.length_bytes)
        say(records, &text);
    buf_fini(&text);
}

static void say_alive(const struct session *s, struct buf *records)
{
    struct buf text = {0};
    size_t alive = procs_alive(&s->procs), shown = 0;
    if (!alive)
        return;
    buf_printf(&text, "%zu process%s of the run still live%s and %s not waited for:", alive,
        alive == 1 ? "" : "es", alive == 1 ? "s" : "", alive == 1 ? "was" : "were");
    for (size_t i = 0; i < s->procs.all.count && shown < 5; i++)
        if (s->procs.all.at[i].is_alive)
            buf_printf(&text, "%s %s (%u)", shown++ ? "," : "", s->procs.all.at[i].name,
                s->procs.all.at[i].pid);
    buf_printf(&text, "%s; the trace ends here for them.", alive > shown ? ", ..." : "");
    say(records, &text);
    buf_fini(&text);
}

static void say_opencv(const struct session *s, struct buf *records)
{
    struct buf text = {0};
    if (!s->options->opencv_trace)
        return;
    opencv_trace_say(&s->opencv, &text);
    say(records, &text);
    buf_fini(&text);
}

static void say_kept(const struct session *s, uint64_t wall_ns, struct buf *records)
{
    struct buf text = {0};
    const uint64_t from_ns = s->ring.kept_from_ns;
    if (!from_ns)
        return;
    buf_printf(&text,
        "Only the last %.3f s of %.3f s are in the trace (--keep-last%s): all times count from "
        "there.",
        (double)(wall_ns - from_ns) / 1e9, (double)wall_ns / 1e9,
        wall_ns - from_ns < s->ring.keep_ns - s->ring.keep_ns / 100 ? ", cut short by --max-bytes"
                                                                    : "");
    say(records, &text);
    buf_fini(&text);
}

static void say_switches(const struct session *s, struct buf *records)
{
    struct buf text = {0};
    const char *given_up = switches_given_up(s->switches);
    if (s->is_switches_lost)
        buf_printf(&text, "The scheduler's events were not followed after all: %s.",
            err_text(&s->switches_missing));
    else if (given_up)
        buf_printf(&text,
            "The program %s that following the scheduler's events would have slowed it: that was "
            "given up.",
            given_up);
    else if (switches_lost(s->switches))
        buf_printf(&text, "%llu of the scheduler's events were lost: its account has holes.",
            (unsigned long long)switches_lost(s->switches));
    if (text.length_bytes)
        say(records, &text);
    buf_fini(&text);
}

static void say_limits(const struct session *s, struct buf *records)
{
    const struct follow *f = &s->follow;
    struct buf text = {0};
    if (f->is_limited) {
        buf_printf(&text,
            "The limit of %llu bytes for the trace (--max-bytes) was reached after %.3f s: from "
            "then on calls and items are kept as sums, not one by one.",
            (unsigned long long)f->max_bytes, (double)f->limit_ns / 1e9);
        say(records, &text);
        buf_fini(&text);
    }
    if (drain_stats_get(f->drain)->discarded_bytes) {
        buf_printf(&text,
            "%llu bytes of records beyond --max-bytes were discarded; give a larger limit.",
            (unsigned long long)drain_stats_get(f->drain)->discarded_bytes);
        say(records, &text);
        buf_fini(&text);
    }
    if (f->crowded) {
        buf_printf(&text,
            "The program recorded faster than its records could be packed (%llu time%s): meanwhile "
            "calls "
            "were kept as sums, not one by one.",
            (unsigned long long)f->crowded, f->crowded == 1 ? "" : "s");
        say(records, &text);
        buf_fini(&text);
    }
}

// The kernel's names of processes that could not tell their own.
static void add_names(const struct session *s, struct buf *records)
{
    for (size_t i = 0; i < s->procs.all.count; i++) {
        const struct procs_entry *entry = &s->procs.all.at[i];
        char both[sizeof entry->name + 1] = "";
        size_t length = strlen(entry->name);
        memcpy(both, entry->name, length + 1);
        if (!entry->has_agent)
            add_text(records, TRACE_TEXT_THREAD, entry->pid, both, length + 1);
    }
}

static int write_rest(
    struct session *s, const struct buf *records, uint64_t wall_ns, uint64_t cpu_ns, struct err *e)
{
    const struct trace_block_id samples = {.type = TRACE_BLOCK_SAMPLES};
    const struct trace_block_id last = {.type = TRACE_BLOCK_SUMMARY};
    const struct summary_facts facts = {.follow = &s->follow, .wall_ns = wall_ns, .cpu_ns = cpu_ns};
    struct buf text = {0};
    struct json *summary = NULL;
    int result = -1;
    if (follow_flush_samples(&s->follow, e) < 0 ||
        trace_pack_block(s->pack, &samples, buf_text(records), records->length_bytes, e) < 0)
        goto done;
    summary = summary_new(&facts);
    json_print(summary, 0, &text);
    result = trace_pack_block(s->pack, &last, buf_text(&text), text.length_bytes, e);
done:
    json_free(&summary);
    buf_fini(&text);
    return result;
}

// The trace could not be finished: it stays as far as it was written, and the rest in the
// directory.
static void keep_part(struct session *s, const struct err *why, struct collect_result *r)
{
    buf_printf(&r->losses,
        "The trace could not be finished: %s.\n"
        "What was written before is in %s and can be read; the rest is kept in %s, in memory.\n"
        "Free some space, then run: lightmeter recover %s -o FILE\n",
        err_text(why), buf_text(&r->trace), buf_text(&s->dir), buf_text(&s->dir));
    s->follow.lost_samples += sampler_pending(s->follow.sampler);
    if (s->follow.lost_samples)
        buf_printf(&r->losses, "%llu samples of /proc are lost.\n",
            (unsigned long long)s->follow.lost_samples);
}

static void commit(struct session *s, struct collect_result *r)
{
    struct err why = {0};
    buf_puts(&r->trace, trace_pack_path(s->pack));
    if (trace_pack_commit(&s->pack, &why) < 0) {
        buf_printf(&r->losses, "%s.\n", err_text(&why));
        buf_fini(&r->trace);
        return;
    }
    r->is_whole = 1;
    unsigned left = 0;
    if (rundir_done_mark(s->dir_fd, &why) < 0 ||
        rundir_remove(s->dir_fd, buf_text(&s->dir), &left, &why) < 0)
        buf_printf(&r->notes, "The run directory stays behind: %s.\n", err_text(&why));
    else if (left)
        buf_printf(&r->notes, "%s stays behind: it holds %u files that are not Lightmeter's.\n",
            buf_text(&s->dir), left);
}

void session_finish(struct session *s, struct collect_result *r)
{
    struct err why = {0};
    struct buf records = {0};
    uint64_t wall_ns = clock_mono_ns() - s->clock.start.mono_ns;
    uint64_t cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - s->launch_cpu_ns;
    handover_set(s->control, HANDOVER_STOP);
    switches_finish(s->switches, clock_mono_ns(), s->sampler);
    int is_packed = drain_finish(s->drain, &why) == 0 && ring_finish(&s->ring, &why) == 0;
    say_target(s, &records);
    say_alive(s, &records);
    say_kept(s, wall_ns, &records);
    say_switches(s, &records);
    say_limits(s, &records);
    say_opencv(s, &records);
    add_names(s, &records);
    if (s->follow.trouble.text[0])
        buf_printf(&r->losses, "From %.3f s on the trace could not always be written: %s.\n",
            (double)s->follow.trouble_ns / 1e9, s->follow.trouble.text);
    if (is_packed && write_rest(s, &records, wall_ns, cpu_ns, &why) == 0) {
        commit(s, r);
    } else {
        buf_puts(&r->trace, trace_pack_part_path(s->pack));
        keep_part(s, &why, r);
        trace_pack_leave(&s->pack);
    }
    buf_fini(&records);
}

void session_abandon(struct session *s)
{
    struct err ignored;
    trace_pack_abort(&s->pack);
    if (s->dir_fd >= 0)
        rundir_remove(s->dir_fd, buf_text(&s->dir), NULL, &ignored);
}

void session_fini(struct session *s)
{
    launch_signals_fini(&s->signals);
    drain_close(&s->drain);
    trace_pack_leave(&s->pack);
    switches_close(&s->switches);
    sampler_free(&s->sampler);
    python_stacks_free(&s->stacks);
    if (s->procs.all.count || s->procs.announced.count)
        procs_fini(&s->procs);
    handover_close(&s->control);
    if (s->dir_fd >= 0)
        close(s->dir_fd);
    s->dir_fd = -1;
    buf_fini(&s->agent);
    buf_fini(&s->agent_file);
    opencv_trace_close(&s->opencv);
    buf_fini(&s->dir);
}
