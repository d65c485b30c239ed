// SPDX-License-Identifier: Apache-2.0
// Finds the control groups of this process, in version 1, 2 or both, and their limits. Called
// before and after a run and by doctor. A level's limit binds all below it, so the smallest of all
// levels counts. Does not need the group to be at the usual place: mountinfo tells. Threads: no
// state.
#include "base/number.h"
#include "base/os.h"
#include "base/os_text.h"

#include <stdio.h>
#include <string.h>

#define PATH_BYTES 512
// More than any machine has: the kernel's way of writing "no limit" in version 1.
#define MEMORY_ENDLESS_BYTES ((uint64_t)1 << 60)

// A controller's folder of this process.
struct place {
    char path[PATH_BYTES]; // without `root`
    size_t top_bytes;      // of `path`: the mount point, above which nothing is known
    int version;
};

// Whether the comma-separated list of `length` bytes holds `word`.
static int list_holds(const char *list, size_t length, const char *word)
{
    size_t word_bytes = strlen(word);
    for (const char *end = list + length; list < end;) {
        const char *comma = memchr(list, ',', (size_t)(end - list));
        size_t item = comma ? (size_t)(comma - list) : (size_t)(end - list);
        if (item == word_bytes && memcmp(list, word, item) == 0)
            return 1;
        list += item + 1;
    }
    return 0;
}

// The group's path in a line "ID:controllers:path" of /proc/self/cgroup that is `controller`'s (of
// version 1), or version 2's for NULL. 0, or -1 when there is none.
static int find_group(const char *text, const char *controller, char *path, size_t path_bytes)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *list = strchr(line, ':');
        const char *end = list ? strchr(list + 1, ':') : NULL;
        if (!end)
            continue;
        size_t length = (size_t)(end - list - 1);
        if (controller ? !list_holds(list + 1, length, controller) : length != 0)
            continue;
        size_t wanted = strcspn(end + 1, "\n");
        if (wanted >= path_bytes)
            return -1;
        memcpy(path, end + 1, wanted);
        path[wanted] = 0;
        return 0;
    }
    return -1;
}

// mountinfo writes blanks, tabs, newlines and backslashes as \ooo.
static void unescape(char *text)
{
    char *out = text;
    for (; *text; text++) {
        unsigned a = (unsigned char)text[0], b = a ? (unsigned char)text[1] : 0;
        unsigned c = b ? (unsigned char)text[2] : 0, d = c ? (unsigned char)text[3] : 0;
        if (a == '\\' && b >= '0' && b <= '3' && c >= '0' && c <= '7' && d >= '0' && d <= '7') {
            *out++ = (char)((b - '0') * 64 + (c - '0') * 8 + (d - '0'));
            text += 3;
        } else {
            *out++ = *text;
        }
    }
    *out = 0;
}

// Whether a line of mountinfo mounts the controller (of version 1; NULL: version 2); then what is
// mounted and where. 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
static int parse_mount(const char *line, const char *controller, char *root, char *point)
{
    char type[32], options[256];
    char copy[2048];
    size_t length = strcspn(line, "\n");
    if (length >= sizeof copy)
        return 0;
    memcpy(copy, line, length);
    copy[length] = 0;
    const char *rest = strstr(copy, " - ");
    if (!rest || sscanf(rest, " - %31s %*s %255s", type, options) != 2 ||
        sscanf(copy, "%*s %*s %*s %511s %511s", root, point) != 2)
        return 0;
    unescape(root);
    unescape(point);
    if (!controller)
        return strcmp(type, "cgroup2") == 0;
    return strcmp(type, "cgroup") == 0 && list_holds(options, strlen(options), controller);
}

// Joins mount point and group. In a container the group's path is often one of the world outside.
static int join(const char *root, const char *point, const char *group, struct place *place)
{
    size_t root_bytes = strcmp(root, "/") == 0 ? 0 : strlen(root);
    const char *below = group;
    if (strncmp(group, root, root_bytes) == 0 && (!group[root_bytes] || group[root_bytes] == '/'))
        below += root_bytes;
    else
        below = "";
    if (strstr(below, "/..") || strcmp(below, "/") == 0)
        below = "";
    place->top_bytes = strlen(point);
    int length = snprintf(place->path, sizeof place->path, "%s%s", point, below);
    return length > 0 && (size_t)length < sizeof place->path ? 0 : -1;
}

static int find_place_of(
    const char *groups, const char *mounts, const char *controller, struct place *place)
{
    char group[PATH_BYTES], root[PATH_BYTES], point[PATH_BYTES];
    if (find_group(groups, controller, group, sizeof group) != 0)
        return -1;
    for (const char *line = mounts; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (parse_mount(line, controller, root, point))
            return join(root, point, group, place);
    }
    return -1;
}

// Version 1 comes first: where both are mounted, a controller is bound to it if it is listed there.
static int find_place(
    const char *groups, const char *mounts, const char *controller, struct place *place)
{
    place->version = 1;
    if (find_place_of(groups, mounts, controller, place) == 0)
        return 0;
    place->version = 2;
    return find_place_of(groups, mounts, NULL, place);
}

static void read_line(
    const char *root, const char *folder, const char *name, char *out, size_t out_bytes)
{
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    os_text_line(root, path, out, out_bytes);
}

// The quota of one level in cores; 0 when it has none.
static double level_quota(const char *root, const char *folder, int version)
{
    char line[96];
    uint64_t numbers[2] = {0, 0};
    if (version == 2) {
        read_line(root, folder, "cpu.max", line, sizeof line);
        if (os_text_numbers(line, numbers, 2) != 2)
            return 0; // "max 100000", or the root, which has no such file
    } else {
        read_line(root, folder, "cpu.cfs_quota_us", line, sizeof line);
        if (number_parse_uint(line, &numbers[0]) != 0) // "-1": none
            return 0;
        read_line(root, folder, "cpu.cfs_period_us", line, sizeof line);
        if (number_parse_uint(line, &numbers[1]) != 0)
            return 0;
    }
    return numbers[1] ? (double)numbers[0] / (double)numbers[1] : 0;
}

// Shortens a path by its last part, down to the mount point. 0 when it was there already.
static int climb(char *path, size_t top_bytes)
{
    char *slash = strrchr(path, '/');
    if (strlen(path) <= top_bytes || !slash || (size_t)(slash - path) < top_bytes)
        return 0;
    *slash = 0;
    return 1;
}

static void read_quota(const char *root, const struct place *place, struct os_cgroup *group)
{
    struct place level = *place;
    do {
        double quota = level_quota(root, level.path, level.version);
        if (quota <= 0 || (group->has_quota && quota >= group->quota_cores))
            continue;
        group->has_quota = 1;
        group->quota_cores = quota;
        snprintf(group->path, sizeof group->path, "%s%s", root, level.path);
    } while (climb(level.path, level.top_bytes));
}

static void read_throttling(struct os_cgroup *group)
{
    char path[sizeof group->path + 16];
    struct buf text = {0};
    uint64_t time = 0;
    snprintf(path, sizeof path, "%s/cpu.stat", group->path);
    os_text_read("", path, &text);
    const char *key = group->version == 2 ? "throttled_usec" : "throttled_time";
    if (os_text_number(buf_text(&text), "nr_periods", &group->periods) == 0 &&
        os_text_number(buf_text(&text), "nr_throttled", &group->throttled) == 0 &&
        os_text_number(buf_text(&text), key, &time) == 0) {
        group->has_throttling = 1;
        group->throttled_ns = group->version == 2 ? time * 1000 : time;
    }
    buf_fini(&text);
}

static uint64_t read_memory_limit(const char *root, struct place *place)
{
    const char *name = place->version == 2 ? "memory.max" : "memory.limit_in_bytes";
    uint64_t least = 0, limit;
    do {
        char line[64];
        read_line(root, place->path, name, line, sizeof line);
        if (number_parse_uint(line, &limit) == 0 && limit < MEMORY_ENDLESS_BYTES &&
            (!least || limit < least))
            least = limit;
    } while (climb(place->path, place->top_bytes));
    return least;
}

void os_cgroup_read(const char *root, struct os_cgroup *group)
{
    struct buf groups = {0}, mounts = {0};
    struct place place;
    *group = (struct os_cgroup){0};
    os_text_read(root, "/proc/self/cgroup", &groups);
    os_text_read(root, "/proc/self/mountinfo", &mounts);
    if (find_place(buf_text(&groups), buf_text(&mounts), "cpu", &place) == 0) {
        group->is_found = 1;
        group->version = place.version;
        snprintf(group->path, sizeof group->path, "%s%s", root, place.path);
        read_quota(root, &place, group);
        read_throttling(group);
    }
    if (find_place(buf_text(&groups), buf_text(&mounts), "memory", &place) == 0)
        group->memory_limit_bytes = read_memory_limit(root, &place);
    buf_fini(&groups);
    buf_fini(&mounts);
}
