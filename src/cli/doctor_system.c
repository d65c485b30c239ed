// SPDX-License-Identifier: Apache-2.0
// Tries what the kernel and the machine offer, each the way a run uses it. Called by `doctor`.
// Changes nothing. Threads: one owner.
#include "cli/doctor.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"
#include "base/text.h"
#include "collect/accel.h"
#include "collect/machine.h"
#include "collect/switches.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHM_ENOUGH_BYTES (256u << 20)
#define SHM_LEAST_BYTES (16u << 20)

static void check_clock(struct doctor *d)
{
    int is_usable = clock_tsc_is_usable();
    struct doctor_row *row = doctor_add(d, "clock", is_usable ? DOCTOR_WORKS : DOCTOR_LIMITED);
    buf_puts(&row->what, is_usable
                             ? "the processor's counter runs at one rate: about 10 ns a reading"
                             : "the processor's counter cannot be trusted here; CLOCK_MONOTONIC is "
                               "used, which costs more");
    if (!is_usable)
        buf_puts(&row->advice,
            "see /sys/devices/system/clocksource/clocksource0/current_clocksource; on "
            "real hardware it should be tsc");
}

// Whether a software event can count this process's switches.
static int can_open_perf(int *errnum)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_DUMMY,
        .exclude_kernel = 1,
        .context_switch = 1,
    };
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    *errnum = errno;
    if (fd < 0)
        return 0;
    close((int)fd);
    return 1;
}

static void check_perf(struct doctor *d)
{
    struct buf level = {0};
    int errnum;
    if (file_read("/proc/sys/kernel/perf_event_paranoid", 64, &level, NULL) == 0)
        level.at[strcspn(level.at, "\n")] = 0;
    int works = can_open_perf(&errnum);
    struct doctor_row *row = doctor_add(d, "perf events", works ? DOCTOR_WORKS : DOCTOR_MISSING);
    buf_printf(&row->what, "software events %s%s%s (perf_event_paranoid: %s)",
        works ? "can be opened" : "cannot be opened: ", works ? "" : strerror(errnum), "",
        level.length_bytes ? buf_text(&level) : "not there");
    if (!works)
        buf_puts(&row->advice,
            "not needed where the cost split works; else allow perf_event_open in "
            "the container, or lower kernel.perf_event_paranoid to 2");
    buf_fini(&level);
}

static void check_switches(struct doctor *d)
{
    struct err why = {0};
    struct switches *s = switches_open(&why);
    struct doctor_row *row = doctor_add(d, "scheduler events", s ? DOCTOR_WORKS : DOCTOR_MISSING);
    if (s)
        buf_puts(&row->what, "why each thread left the CPU, and who woke it, is known");
    else
        buf_printf(
            &row->what, "the kernel's own account of waiting is not to be had: %s", err_text(&why));
    if (!s)
        buf_puts(&row->advice,
            "not needed: hooks tell what calls wait for; for a second account run as root, with "
            "tracefs mounted");
    switches_close(&s);
}

static void check_schedstat(struct doctor *d)
{
    struct buf text = {0};
    struct err e = {0};
    struct os_schedstat schedstat;
    int is_known = file_read("/proc/thread-self/schedstat", 4096, &text, &e) == 0 &&
                   os_schedstat_parse(buf_text(&text), &schedstat) == 0;
    struct doctor_row *row =
        doctor_add(d, "scheduler statistics", is_known ? DOCTOR_WORKS : DOCTOR_MISSING);
    if (is_known)
        buf_puts(&row->what, "run time and run-queue wait of each thread are known");
    else
        buf_printf(&row->what, "run-queue wait cannot be told from other waiting: %s",
            e.text[0] ? e.text : "the numbers are not there");
    if (!is_known)
        buf_puts(&row->advice, "use a kernel with CONFIG_SCHED_INFO, and mount /proc");
    buf_fini(&text);
}

static void check_pressure(struct doctor *d)
{
    struct os_psi psi;
    os_psi_read("", &psi);
    int known = psi.cpu.is_known + psi.io.is_known + psi.memory.is_known;
    struct doctor_row *row = doctor_add(d, "pressure",
        known == 3  ? DOCTOR_WORKS
        : known > 0 ? DOCTOR_LIMITED
                    : DOCTOR_MISSING);
    if (known == 3)
        buf_puts(&row->what, "stalls for CPU, I/O and memory are known");
    else
        buf_printf(&row->what, "/proc/pressure does not tell stalls for%s%s%s",
            psi.cpu.is_known ? "" : " CPU", psi.io.is_known ? "" : " I/O",
            psi.memory.is_known ? "" : " memory");
    if (known < 3)
        buf_puts(&row->advice, "boot with psi=1, on a kernel with CONFIG_PSI");
}

static void check_steal(struct doctor *d)
{
    uint64_t steal_ns;
    int is_known = os_steal_read("", &steal_ns) == 0;
    struct doctor_row *row = doctor_add(d, "steal", is_known ? DOCTOR_WORKS : DOCTOR_MISSING);
    buf_puts(&row->what, is_known ? "time stolen by the hypervisor and load of others are known"
                                  : "/proc/stat does not tell the time stolen by the hypervisor");
    if (!is_known)
        buf_puts(&row->advice, "mount /proc");
}

static void check_group(struct doctor *d)
{
    struct machine m;
    char text[4096] = "";
    uint64_t periods = 0;
    machine_open(&m);
    ssize_t n = m.cgroup_fd >= 0 ? pread(m.cgroup_fd, text, sizeof text - 1, 0) : -1;
    int has_throttling = n > 0 && machine_field(text, "nr_periods", &periods) == 0;
    struct doctor_row *row =
        doctor_add(d, "control group", has_throttling ? DOCTOR_WORKS : DOCTOR_MISSING);
    if (has_throttling)
        buf_printf(&row->what, "throttling is counted in %s", buf_text(&m.cgroup_path));
    else if (n > 0)
        buf_printf(&row->what,
            "%s does not count throttling: no CPU quota can be set at this level",
            buf_text(&m.cgroup_path));
    else
        buf_puts(&row->what, "no cpu.stat was found, so throttling by a CPU quota stays unseen");
    if (!has_throttling)
        buf_puts(
            &row->advice, "mount the cgroup file system in the container, with the cpu controller");
    machine_close(&m);
}

static void check_memory(struct doctor *d)
{
    struct statvfs space;
    char text[TEXT_NUMBER_BYTES];
    int is_there = statvfs("/dev/shm", &space) == 0 && access("/dev/shm", W_OK) == 0;
    uint64_t free_bytes = is_there ? (uint64_t)space.f_bavail * space.f_frsize : 0;
    struct doctor_row *row = doctor_add(d, "run directory",
        free_bytes >= SHM_ENOUGH_BYTES  ? DOCTOR_WORKS
        : free_bytes >= SHM_LEAST_BYTES ? DOCTOR_LIMITED
                                        : DOCTOR_MISSING);
    if (is_there)
        buf_printf(&row->what, "/dev/shm has %s free", text_bytes(text, (double)free_bytes));
    else
        buf_puts(&row->what,
            "/dev/shm is missing or cannot be written; XDG_RUNTIME_DIR or TMPDIR is used");
    if (free_bytes < SHM_ENOUGH_BYTES)
        buf_puts(&row->advice,
            "give it 256 MiB or more (docker run --shm-size=256m); threads that find no "
            "room are counted, not recorded");
}

static void check_onnxruntime(struct doctor *d)
{
    const char *named = getenv("LIGHTMETER_ONNXRUNTIME");
    const char *names[] = {named && *named ? named : "libonnxruntime.so.1", "libonnxruntime.so"};
    struct buf why = {0};
    int is_found = 0;
    for (size_t i = 0; i < (named && *named ? 1 : 2) && !is_found; i++) {
        void *library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        is_found = library && dlsym(library, "OrtGetApiBase");
        const char *message = is_found ? NULL : dlerror();
        if (!is_found && !why.length_bytes)
            buf_puts(&why, message ? message : "it has no OrtGetApiBase");
        if (is_found)
            buf_puts(&why, names[i]);
        if (library)
            dlclose(library);
    }
    struct doctor_row *row =
        doctor_add(d, "ONNX Runtime", is_found ? DOCTOR_WORKS : DOCTOR_LIMITED);
    buf_printf(
        &row->what, "%s%s", is_found ? "found: " : "not found on the system: ", buf_text(&why));
    if (!is_found)
        buf_puts(&row->advice, "programs that bring their own are seen all the same; for the "
                               "examples name the library in "
                               "LIGHTMETER_ONNXRUNTIME");
    buf_fini(&why);
}

static void check_accelerators(struct doctor *d)
{
    struct accel *a = accel_open();
    const unsigned count = a ? accel_count(a) : 0;
    struct doctor_row *row = doctor_add(d, "accelerators", count ? DOCTOR_WORKS : DOCTOR_MISSING);
    if (!a)
        buf_puts(&row->what, "no libnvidia-ml.so.1 (NVML): no NVIDIA driver on this machine");
    else if (!count)
        buf_printf(&row->what, "NVML is there but %s (status %d)",
            accel_status(a) ? "cannot be started" : "knows no device", accel_status(a));
    for (unsigned i = 0; i < count; i++) {
        char name[ACCEL_NAME_BYTES];
        accel_name(a, i, name);
        buf_printf(&row->what, "%s%s", i ? ", " : "NVML samples ", *name ? name : "a device");
    }
    if (!a)
        buf_puts(
            &row->advice, "not needed without an NVIDIA accelerator; with one, install its driver");
    else if (!count)
        buf_puts(&row->advice,
            "see what nvidia-smi says; in a container the driver's libraries and "
            "devices must match");
    accel_close(&a);
}

static void check_architecture(struct doctor *d)
{
#if defined(__x86_64__)
    struct doctor_row *row = doctor_add(d, "architecture", DOCTOR_WORKS);
    buf_puts(&row->what, "x86-64: everything is built in");
#elif defined(__aarch64__)
    struct doctor_row *row = doctor_add(d, "architecture", DOCTOR_LIMITED);
    buf_puts(&row->what, "AArch64: that the preloaded library compiles is tested, but nothing on "
                         "hardware. Missing: C++ "
                         "functions that return an object "
                         "(cv::imread and its like), whose result address comes in x8; stages of "
                         "--stage-map, whose entry "
                         "code is x86-64");
    buf_puts(&row->advice, "mark those stages in the source with <lightmeter/mark.h>");
#else
    struct doctor_row *row = doctor_add(d, "architecture", DOCTOR_MISSING);
    buf_puts(&row->what, "this processor is not supported: only /proc is sampled");
    buf_puts(&row->advice, "run on x86-64");
#endif
}

void doctor_check_system(struct doctor *d)
{
    check_clock(d);
    check_memory(d);
    check_schedstat(d);
    check_pressure(d);
    check_steal(d);
    check_group(d);
    check_perf(d);
    check_switches(d);
    check_onnxruntime(d);
    check_accelerators(d);
    check_architecture(d);
}
