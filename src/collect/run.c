// SPDX-License-Identifier: Apache-2.0
// Puts one run together, see run.h. Everything that can fail for a reason of Lightmeter's own is
// done before the launch, so that such a failure starts nothing; after it, failures become losses
// in words and the target's status stands. Threads: one owner.
#include "collect/run.h"

#include "base/clock.h"
#include "collect/bridges.h"
#include "collect/handover.h"
#include "collect/launch.h"
#include "collect/preload.h"
#include "collect/python_shim.h"
#include "collect/session.h"
#include "collect/target.h"
#include "trace/rundir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#ifndef LIGHTMETER_LIBDIR
#define LIGHTMETER_LIBDIR "lib" // where the library is installed, below the prefix
#endif
#define AGENT_FILE PRELOAD_FILE
#define DIR_LIMIT_BYTES (512u << 20) // waiting to be packed
#define POOL_LIMIT_BYTES (256u << 20)
#define PARTS_IN_LIMIT 16u
#define OPEN_PART_MOST_BYTES (256u << 10)
#define DIR_SPACE_LEAST_BYTES (8u << 20)

static int is_agent(struct buf *path)
{
    return access(buf_text(path), R_OK) == 0;
}

int collect_agent_find(struct buf *path, struct err *e)
{
    const char *named = getenv("LIGHTMETER_AGENT");
    if (named && *named) {
        rundir_absolute(named, path);
        if (is_agent(path))
            return 0;
        return err_set(e,
            "%s, which LIGHTMETER_AGENT names, cannot be read; unset the variable or "
            "name the file " AGENT_FILE,
            buf_text(path));
    }
    char self[TARGET_PATH_BYTES];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    if (!slash)
        return err_set(e,
            "the path of this program is not known (is /proc mounted?); name the file " AGENT_FILE
            " in LIGHTMETER_AGENT");
    *slash = 0;
    static const char *const places[] = {
        "", "/../lib/lightmeter", "/../" LIGHTMETER_LIBDIR "/lightmeter"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        buf_fini(path);
        buf_printf(path, "%s%s/" AGENT_FILE, self, places[i]);
        if (is_agent(path))
            return 0;
    }
    return err_set(e,
        AGENT_FILE " is neither in %s nor in %s/../" LIGHTMETER_LIBDIR "/lightmeter; build or "
                   "install it, or name it in LIGHTMETER_AGENT",
        self, self);
}

// Whether the library is preloaded, under which name, and why not.
static void choose_agent(struct session *s)
{
    struct err why = {0};
    struct buf path = {0};
    if (s->target.verdict == TARGET_FOREIGN) {
        // Its loader would only print an error on the target's stderr.
        buf_fini(&s->agent);
        return;
    }
    if (collect_agent_find(&path, &why) == 0 && strpbrk(buf_text(&path), " :"))
        err_set(&why,
            "the path %s has a blank or a colon, which LD_PRELOAD cannot hold; move the file",
            buf_text(&path));
    if (why.text[0]) {
        s->agent_missing = why;
    } else {
        preload_name(buf_text(&path), &s->agent);
        buf_puts(&s->agent_file, buf_text(&path));
    }
    buf_fini(&path);
}

static const char *agent_path(const struct session *s)
{
    return s->agent.length_bytes ? s->agent.at : NULL;
}

// The run directory, and how much may lie in it.
static int open_dir(struct session *s, struct err *e)
{
    struct statvfs space;
    if (rundir_create(NULL, &s->dir, e) < 0)
        return -1;
    s->dir_fd = rundir_open(buf_text(&s->dir), e);
    if (s->dir_fd < 0)
        return -1;
    s->dir_limit_bytes = DIR_LIMIT_BYTES;
    if (fstatvfs(s->dir_fd, &space) != 0)
        return 0;
    uint64_t free_bytes = (uint64_t)space.f_bavail * space.f_frsize;
    if (free_bytes < DIR_SPACE_LEAST_BYTES)
        return err_set(e,
            "%s has only %llu KiB free, too little to record into; free some space there",
            buf_text(&s->dir), (unsigned long long)(free_bytes >> 10));
    if (s->dir_limit_bytes > free_bytes / 2)
        s->dir_limit_bytes = free_bytes / 2;
    return 0;
}

// The META block, and a description of the run in the directory for `recover`.
static int write_meta(struct session *s, struct err *e)
{
    const struct meta_facts facts = {
        .options = s->options,
        .target = &s->target,
        .agent_path = agent_path(s),
        .agent_missing = s->agent_missing.text,
        .clock = &s->clock,
        .sampler = s->sampler,
        .has_switches = s->switches != NULL,
        .switches_missing = s->switches_missing.text,
    };
    struct json *meta = meta_new(&facts);
    struct buf text = {0}, output = {0}, part = {0};
    const struct trace_block_id id = {.type = TRACE_BLOCK_META};
    int result = -1;
    json_print(meta, 0, &text);
    if (trace_pack_block(s->pack, &id, buf_text(&text), text.length_bytes, e) < 0)
        goto done;
    rundir_absolute(trace_pack_path(s->pack), &output);
    rundir_absolute(trace_pack_part_path(s->pack), &part);
    const struct rundir_meta description = {
        .output = output.at,
        .part = part.at,
        .launcher_pid = (uint32_t)getpid(),
        .meta = meta,
    };
    result = rundir_meta_write(s->dir_fd, &description, e);
done:
    json_free(&meta);
    buf_fini(&text);
    buf_fini(&output);
    buf_fini(&part);
    return result;
}

// A small trace grows in small steps, so that its limit is seen in time; 0: the usual ones.
static uint32_t open_part_bytes(uint64_t max_bytes)
{
    if (!max_bytes || max_bytes >= PARTS_IN_LIMIT * OPEN_PART_MOST_BYTES)
        return 0;
    return (uint32_t)(max_bytes / PARTS_IN_LIMIT);
}

// Before there is a part file or anything else to forget: where it will be, for `recover`.
static int write_beginning(struct session *s, struct err *e)
{
    struct buf output = {0}, part = {0};
    struct json *nothing = json_object();
    rundir_absolute(s->options->output, &output);
    trace_pack_part_name(buf_text(&output), (uint32_t)getpid(), &part);
    const struct rundir_meta description = {
        .output = output.at,
        .part = part.at,
        .launcher_pid = (uint32_t)getpid(),
        .meta = nothing,
    };
    const int result = rundir_meta_write(s->dir_fd, &description, e);
    json_free(&nothing);
    buf_fini(&output);
    buf_fini(&part);
    return result;
}

// What takes time, so that little of it lies between the start of the run's clock and the launch.
static int open_early(struct session *s, struct err *e)
{
    target_judge(s->options->argv[0], &s->target);
    choose_agent(s);
    s->clock.is_tsc = clock_tsc_is_usable();
    // Held first: from here on a signal must not leave the directory behind.
    if (launch_signals_hold(&s->signals, e) < 0 || open_dir(s, e) < 0 || write_beginning(s, e) < 0)
        return -1;
    procs_init(&s->procs, s->dir_fd, buf_text(&s->dir), s->clock.is_tsc);
    s->sampler = sampler_new(&s->procs, s->clock.is_tsc);
    s->stacks = python_stacks_new(s->dir_fd);
    if (!s->options->no_scheduler)
        s->switches = switches_open(&s->switches_missing);
    else
        err_set(&s->switches_missing, "switched off by --no-scheduler");
    s->pack = trace_pack_create(s->options->output, clock_read_ns(CLOCK_REALTIME), e);
    if (!s->pack)
        return -1;
    s->ring = (struct ring){.pack = s->pack,
        .clock = &s->clock,
        .keep_ns = s->options->keep_last_ns,
        .max_bytes = s->options->max_bytes};
    ring_start(&s->ring);
    const struct drain_options drain = {
        .dir = buf_text(&s->dir),
        .dir_fd = s->dir_fd,
        .pack = s->pack,
        .clock = &s->clock,
        .dir_limit_bytes =
            s->dir_limit_bytes < POOL_LIMIT_BYTES ? s->dir_limit_bytes : POOL_LIMIT_BYTES,
        .trace_limit_bytes = s->options->max_bytes,
        .open_part_bytes = open_part_bytes(s->options->max_bytes),
        .is_pool_stocked = agent_path(s) != NULL,
    };
    s->ring.drain = s->drain = drain_open(&drain, e);
    // The first files are there before the target asks for them.
    return !s->drain || drain_step(s->drain, 0, e) < 0 ? -1 : 0;
}

static int open_late(struct session *s, struct err *e)
{
    if (s->options->opencv_trace && opencv_trace_open(&s->opencv, e) < 0)
        return -1;
    trace_clock_start(&s->clock, s->clock.is_tsc);
    if (write_meta(s, e) < 0)
        return -1;
    const struct handover_options handover = {
        .clock = &s->clock,
        .no_hooks = s->options->no_hooks,
        .no_hook_count = s->options->no_hook_count,
        .map = s->options->map,
        .opencv_trace = s->options->opencv_trace,
        .cuda_activity = s->options->cuda_activity,
    };
    s->control = handover_open(s->dir_fd, &handover, e);
    if (!s->control)
        return -1;
    handover_stock(s->control, drain_stock(s->drain, 0), drain_stock(s->drain, 1));
    return 0;
}

// The target waits to become its image: its scheduler events are followed from the first one on.
static void follow_switches(void *context, pid_t pid)
{
    struct session *s = context;
    if (!s->switches || switches_attach(s->switches, pid, &s->switches_missing) == 0)
        return;
    switches_close(&s->switches);
    s->is_switches_lost = 1;
}

static int launch(struct session *s, pid_t *pid, struct err *e)
{
    struct launch_variable variables[BRIDGES_VARIABLES] = {{NULL, NULL}};
    if (agent_path(s))
        bridges_variables(
            buf_text(&s->agent_file), s->options->no_hooks, s->options->no_hook_count, variables);
    if (s->options->opencv_trace)
        bridges_variables_opencv(buf_text(&s->opencv.prefix), variables);
    struct buf python_path = {0};
    const int has_shim =
        agent_path(s) &&
        !bridges_is_off("python", s->options->no_hooks, s->options->no_hook_count) &&
        python_shim_path(buf_text(&s->agent_file), getenv("PYTHONPATH"), &python_path);
    const struct launch_options options = {
        .argv = s->options->argv,
        .agent_path = agent_path(s),
        .asan = s->target.asan,
        .run_dir = buf_text(&s->dir),
        .python_path = has_shim ? buf_text(&python_path) : NULL,
        .found_path = s->target.path,
        .ready_fn = follow_switches,
        .ready_context = s,
        .variables = variables,
    };
    int status = launch_start(&options, &s->signals, pid, e);
    buf_fini(&python_path);
    return status < 0 ? COLLECT_FAILED : status;
}

int collect_run(const struct collect_options *o, struct collect_result *r, struct err *e)
{
    struct session s = {.options = o, .dir_fd = -1, .signals = {.fd = -1}};
    pid_t pid = -1;
    *r = (struct collect_result){.launch_status = COLLECT_FAILED};
    if (open_early(&s, e) == 0 && open_late(&s, e) == 0)
        r->launch_status = launch(&s, &pid, e);
    if (r->launch_status) {
        session_abandon(&s);
        session_fini(&s);
        return -1;
    }
    procs_add(&s.procs, (uint32_t)pid, 0);
    s.follow = (struct follow){
        .pid = pid,
        .signals = &s.signals,
        .drain = s.drain,
        .pack = s.pack,
        .procs = &s.procs,
        .sampler = s.sampler,
        .switches = s.switches,
        .stacks = s.stacks,
        .ring = &s.ring,
        .clock = &s.clock,
        .control = s.control,
        .max_bytes = o->max_bytes,
        .dir_limit_bytes = s.dir_limit_bytes,
    };
    s.launch_cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
    follow_target(&s.follow);
    r->wait_status = s.follow.status;
    session_finish(&s, r);
    session_fini(&s);
    return 0;
}

void collect_result_fini(struct collect_result *r)
{
    buf_fini(&r->trace);
    buf_fini(&r->notes);
    buf_fini(&r->losses);
}
