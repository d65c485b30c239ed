// SPDX-License-Identifier: Apache-2.0
// Facts about the machine that a reader of numbers needs: processor, cores, memory, kernel,
// settings. Called once per run and by doctor. Does not measure. Threads: no shared state.
#include "base/json.h"
#include "base/number.h"
#include "base/os.h"
#include "base/os_text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 512
#define CORES_MOST (1u << 20)

// Takes a number from the start of *list. 0, or -1 when there is none.
static int take_number(const char **list, uint64_t *value)
{
    char digits[12];
    size_t length = strspn(*list, "0123456789");
    if (length >= sizeof digits)
        return -1;
    memcpy(digits, *list, length);
    digits[length] = 0;
    *list += length;
    return number_parse_uint(digits, value);
}

// How many numbers a list such as "0-3,8,10-11" names; 0 when it is not of that form.
static unsigned list_count(const char *list)
{
    uint64_t count = 0, first, last;
    do {
        if (take_number(&list, &first) != 0)
            return 0;
        last = first;
        if (*list == '-') {
            list++;
            if (take_number(&list, &last) != 0 || last < first)
                return 0;
        }
        count += last - first + 1;
    } while (*list == ',' && list++);
    return !*list && count <= CORES_MOST ? (unsigned)count : 0;
}

static void read_cores(const char *root, struct os_host *host)
{
    char list[1024];
    struct buf status = {0};
    os_text_line(root, "/sys/devices/system/cpu/online", list, sizeof list);
    host->cores_online = list_count(list);
    os_text_read(root, "/proc/self/status", &status);
    os_text_field(buf_text(&status), "Cpus_allowed_list", list, sizeof list);
    host->cores_affinity = list_count(list);
    buf_fini(&status);
}

// Arm kernels give numbers in place of a name.
static void read_arm_model(const char *cpuinfo, struct os_host *host)
{
    char maker[16], part[16];
    if (os_text_field(cpuinfo, "CPU implementer", maker, sizeof maker) == 0 &&
        os_text_field(cpuinfo, "CPU part", part, sizeof part) == 0)
        snprintf(
            host->cpu_model, sizeof host->cpu_model, "Arm implementer %s, part %s", maker, part);
}

// Whether the blank-separated `list` holds `word`.
static int holds_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return 1;
    return 0;
}

static void read_cpu(const char *root, struct os_host *host)
{
    struct buf cpuinfo = {0};
    char flags[8192];
    os_text_read(root, "/proc/cpuinfo", &cpuinfo);
    if (os_text_field(buf_text(&cpuinfo), "model name", host->cpu_model, sizeof host->cpu_model) !=
        0)
        read_arm_model(buf_text(&cpuinfo), host);
    host->is_virtual = -1;
    if (os_text_field(buf_text(&cpuinfo), "flags", flags, sizeof flags) == 0)
        host->is_virtual = holds_word(flags, "hypervisor");
    buf_fini(&cpuinfo);
    char smt[8];
    uint64_t is_active;
    os_text_line(root, "/sys/devices/system/cpu/smt/active", smt, sizeof smt);
    host->smt_is_active = number_parse_uint(smt, &is_active) == 0 ? is_active != 0 : -1;
}

static int exists(const char *root, const char *path)
{
    char whole[PATH_BYTES];
    int length = snprintf(whole, sizeof whole, "%s%s", root, path);
    return length > 0 && (size_t)length < sizeof whole && access(whole, F_OK) == 0;
}

// Container runtimes leave a file, or their name in the control group's path.
static void guess_container(const char *root, struct os_host *host)
{
    static const struct {
        const char *in_path, *name;
    } names[] = {{"kubepods", "kubernetes"}, {"libpod", "podman"}, {"/docker/", "docker"},
        {"docker-", "docker"}, {"cri-containerd", "containerd"}, {"/lxc", "lxc"}};
    const char *found = "";
    struct buf groups = {0};
    os_text_read(root, "/proc/self/cgroup", &groups);
    for (size_t i = 0; i < sizeof names / sizeof *names && !*found; i++)
        if (strstr(buf_text(&groups), names[i].in_path))
            found = names[i].name;
    if (!*found && exists(root, "/run/.containerenv"))
        found = "podman";
    if (!*found && exists(root, "/.dockerenv"))
        found = "docker";
    if (!*found && (strstr(host->kernel, "microsoft") || strstr(host->kernel, "Microsoft")))
        found = "wsl";
    snprintf(host->container, sizeof host->container, "%s", found);
    buf_fini(&groups);
}

// "always [madvise] never": the word in brackets.
static void read_huge_pages(const char *root, struct os_host *host)
{
    char line[96];
    os_text_line(root, "/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line);
    const char *open = strchr(line, '[');
    size_t length = open ? strcspn(open + 1, "]") : 0;
    if (length && length < sizeof host->thp) {
        memcpy(host->thp, open + 1, length);
        host->thp[length] = 0;
    }
}

void os_host_read(const char *root, struct os_host *host)
{
    static const char governor[] = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    static const char clocksource[] =
        "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    struct buf meminfo = {0};
    struct os_cgroup group;
    uint64_t memory_kib;
    *host = (struct os_host){0};
    read_cpu(root, host);
    read_cores(root, host);
    os_cgroup_read(root, &group);
    host->has_quota = group.is_found ? group.has_quota : -1;
    host->quota_cores = group.quota_cores;
    os_text_read(root, "/proc/meminfo", &meminfo);
    if (os_text_number(buf_text(&meminfo), "MemTotal", &memory_kib) == 0)
        host->memory_bytes = memory_kib * 1024;
    buf_fini(&meminfo);
    if (!host->memory_bytes || group.memory_limit_bytes < host->memory_bytes)
        host->memory_limit_bytes = group.memory_limit_bytes;
    os_text_line(root, "/proc/sys/kernel/osrelease", host->kernel, sizeof host->kernel);
    guess_container(root, host);
    read_huge_pages(root, host);
    os_text_line(root, governor, host->governor, sizeof host->governor);
    os_text_line(root, clocksource, host->clocksource, sizeof host->clocksource);
}

double os_host_cores_allowed(const struct os_host *host)
{
    double cores = host->cores_affinity ? host->cores_affinity : host->cores_online;
    if (host->has_quota == 1 && (cores <= 0 || host->quota_cores < cores))
        return host->quota_cores;
    return cores;
}

static void put_text(struct json *object, const char *key, const char *text)
{
    if (*text)
        json_put_string(object, key, text);
}

static void put_number(struct json *object, const char *key, uint64_t value)
{
    if (value)
        json_put_int(object, key, (int64_t)value);
}

static void put_answer(struct json *object, const char *key, int answer)
{
    if (answer >= 0)
        json_put_bool(object, key, answer);
}

struct json *os_host_json(const struct os_host *host)
{
    struct json *object = json_object();
    double allowed = os_host_cores_allowed(host);
    put_text(object, "cpu", host->cpu_model);
    put_number(object, "cores_online", host->cores_online);
    put_number(object, "cores_affinity", host->cores_affinity);
    if (allowed > 0)
        json_put_real(object, "cores_allowed", allowed);
    if (host->has_quota == 1)
        json_put_real(object, "quota_cores", host->quota_cores);
    put_number(object, "memory_bytes", host->memory_bytes);
    put_number(object, "memory_limit_bytes", host->memory_limit_bytes);
    put_text(object, "kernel", host->kernel);
    put_text(object, "container", host->container);
    put_answer(object, "is_virtual", host->is_virtual);
    put_answer(object, "smt_is_active", host->smt_is_active);
    put_text(object, "thp", host->thp);
    put_text(object, "governor", host->governor);
    put_text(object, "clocksource", host->clocksource);
    return object;
}
