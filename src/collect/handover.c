// SPDX-License-Identifier: Apache-2.0
// Writes `config` (lines of words) and maps `control`, see handover.h. Called once per run, before
// the launch. Threads: one owner.
#include "collect/handover.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CONTROL_BYTES 4096u
#define STATUS_LIMIT_BYTES 65536u
#define SCALE_SHIFT 22u // 2^42 ticks do not overflow, and the factor is exact to a millionth

int handover_scale(const struct trace_clock *clock, uint64_t *mult, unsigned *shift, struct err *e)
{
    __extension__ typedef unsigned __int128 wide;
    if (!clock->is_tsc) {
        *mult = 1;
        *shift = 0;
        return 0;
    }
    uint64_t ticks = clock->later.ticks - clock->start.ticks;
    uint64_t ns = clock->later.mono_ns - clock->start.mono_ns;
    wide factor = ticks ? (((wide)ns << SCALE_SHIFT) + ticks / 2) / ticks : 0;
    if (factor == 0 || factor >> 40)
        return err_set(e,
            "the processor's clock makes no sense (%llu ticks in %llu ns); say so in a "
            "bug report with the output of `lightmeter doctor`",
            (unsigned long long)ticks, (unsigned long long)ns);
    *mult = (uint64_t)factor;
    *shift = SCALE_SHIFT;
    return 0;
}

int handover_config_text(const struct handover_options *o, struct buf *out, struct err *e)
{
    uint64_t mult;
    unsigned shift;
    if (handover_scale(o->clock, &mult, &shift, e) < 0)
        return -1;
    buf_printf(out, "version 1\nclock %s\nscale %llu %u\n", o->clock->is_tsc ? "tsc" : "mono",
        (unsigned long long)mult, shift);
    for (size_t i = 0; i < o->no_hook_count; i++)
        buf_printf(out, "nohook %s\n", o->no_hooks[i]);
    if (o->opencv_trace)
        buf_puts(out, "opencv-trace 1\n");
    if (o->cuda_activity)
        buf_puts(out, "cuda-activity 1\n");
    for (size_t i = 0; o->map && i < o->map->entries.count; i++) {
        const struct stagemap_entry *entry = &o->map->entries.at[i];
        if (entry->is_range) // the pattern may hold blanks
            buf_printf(out, "range %s %s\n", entry->stage, entry->pattern);
        else
            buf_printf(out, "%s %s %s\n", entry->is_library ? "library" : "function",
                entry->pattern, entry->stage);
    }
    return 0;
}

static int write_file(int dir_fd, const char *name, const struct buf *text)
{
    int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    ssize_t n = write(fd, buf_text(text), text->length_bytes);
    int failed = n != (ssize_t)text->length_bytes;
    if (failed && n >= 0)
        errno = ENOSPC;
    close(fd);
    return failed ? -1 : 0;
}

static struct trace_control *map_control(int dir_fd)
{
    int fd = openat(dir_fd, "control", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    void *at = MAP_FAILED;
    errno = posix_fallocate(fd, 0, CONTROL_BYTES); // a full file system shows here, not as SIGBUS
    if (errno == 0)
        at = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int saved_errno = errno;
    close(fd);
    errno = saved_errno;
    return at == MAP_FAILED ? NULL : at;
}

// The kernel's filters of this process's system calls, which its children begin with.
static unsigned long own_filters(void)
{
    static const char word[] = "\nSeccomp_filters:";
    struct buf status = {0};
    struct err ignored = {0};
    unsigned long count = 0;
    if (file_read("/proc/self/status", STATUS_LIMIT_BYTES, &status, &ignored) == 0) {
        const char *at = strstr(buf_text(&status), word);
        count = at ? strtoul(at + sizeof word - 1, NULL, 10) : 0;
    }
    buf_fini(&status);
    return count;
}

struct trace_control *handover_open(int dir_fd, const struct handover_options *o, struct err *e)
{
    struct buf text = {0};
    struct trace_control *control = NULL;
    if (handover_config_text(o, &text, e) < 0)
        goto done;
    buf_printf(&text, "filters %lu\n", own_filters());
    if (write_file(dir_fd, "config", &text) < 0 || !(control = map_control(dir_fd)))
        err_set_errno(
            e, errno, "the run directory cannot be written; free some memory or space in it");
done:
    buf_fini(&text);
    return control;
}

void handover_close(struct trace_control **control)
{
    if (*control)
        munmap(*control, CONTROL_BYTES);
    *control = NULL;
}

void handover_set(struct trace_control *control, enum handover_control value)
{
    __atomic_store_n(&control->state, (uint32_t)value, __ATOMIC_RELEASE);
}

void handover_beat(struct trace_control *control, uint64_t now_ns)
{
    __atomic_store_n(&control->beat_ns, now_ns, __ATOMIC_RELEASE);
}

void handover_stock(struct trace_control *control, uint32_t small, uint32_t large)
{
    const uint64_t round = ((control->stock[0] >> 32) + 1) << 32;
    __atomic_store_n(&control->stock[0], round | small, __ATOMIC_RELEASE);
    __atomic_store_n(&control->stock[1], round | large, __ATOMIC_RELEASE);
}
