// SPDX-License-Identifier: Apache-2.0
// Reads the launcher's configuration. A line is `word value...`; unknown words are skipped, so that
// a newer launcher can say more. Called once, before the first record.
#include "agent/config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct config config;
static char text[128 << 10]; // both kinds of rules at their longest

static long read_file(const char *run_dir)
{
    char path[512];
    size_t length = strnlen(run_dir, sizeof path);
    if (length + sizeof "/config" > sizeof path)
        return -1;
    memcpy(path, run_dir, length);
    memcpy(path + length, "/config", sizeof "/config");
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -1;
    long total = 0, n;
    do {
        n = syscall(SYS_read, fd, text + total, sizeof text - 1 - (size_t)total);
        total += n > 0 ? n : 0;
    } while (n > 0 && total < (long)sizeof text - 1);
    syscall(SYS_close, fd);
    text[total] = 0;
    return n < 0 ? -1 : total;
}

// Cuts the next blank-separated word out of the line; "" at its end.
static char *take_word(char **line)
{
    char *word = *line + strspn(*line, " ");
    char *end = word + strcspn(word, " ");
    *line = *end ? end + 1 : end;
    *end = 0;
    return word;
}

static void take_map(char *line, int is_library)
{
    char *pattern = take_word(&line), *stage = take_word(&line);
    if (!*pattern || !*stage || config.map_count == CONFIG_MAPS)
        return;
    config.maps[config.map_count++] = (struct config_map){pattern, stage, is_library};
}

// The pattern is the rest of the line.
static void take_range(char *line)
{
    char *word = take_word(&line);
    if (!*word || !*line || config.range_count == CONFIG_RANGES)
        return;
    config.ranges[config.range_count++] = (struct config_range){line, word};
}

static void take_line(char *line)
{
    char *word = take_word(&line);
    if (strcmp(word, "clock") == 0) {
        config.clock_is_tsc = strcmp(take_word(&line), "tsc") == 0;
    } else if (strcmp(word, "scale") == 0) {
        config.scale_mult = strtoull(take_word(&line), NULL, 10);
        config.scale_shift = (uint32_t)strtoul(take_word(&line), NULL, 10);
    } else if (strcmp(word, "filters") == 0) {
        config.filters = (uint32_t)strtoul(take_word(&line), NULL, 10);
    } else if (strcmp(word, "nohook") == 0 && config.no_hook_count < CONFIG_NO_HOOKS) {
        config.no_hooks[config.no_hook_count++] = take_word(&line);
    } else if (strcmp(word, "function") == 0) {
        take_map(line, 0);
    } else if (strcmp(word, "library") == 0) {
        take_map(line, 1);
    } else if (strcmp(word, "opencv-trace") == 0) {
        config.is_opencv_traced = 1;
    } else if (strcmp(word, "cuda-activity") == 0) {
        config.is_cuda_activity = 1;
    } else if (strcmp(word, "range") == 0) {
        take_range(line);
    }
}

int config_read(const char *run_dir)
{
    if (read_file(run_dir) < 0)
        return -1;
    char *line = text;
    while (*line) {
        char *end = line + strcspn(line, "\n");
        char *next = *end ? end + 1 : end;
        *end = 0;
        take_line(line);
        line = next;
    }
    return config.scale_mult && config.scale_shift < 64 ? 0 : -1;
}

int config_is_off(const char *name)
{
    for (int i = 0; i < config.no_hook_count; i++) {
        if (strcmp(config.no_hooks[i], name) == 0)
            return 1;
    }
    return 0;
}

int config_matches(const char *pattern, const char *subject)
{
    const char *star = NULL, *retry = NULL;
    while (*subject) {
        if (*pattern == '*') {
            star = pattern++;
            retry = subject;
        } else if (*pattern == '?' || *pattern == *subject) {
            pattern++;
            subject++;
        } else if (star) {
            pattern = star + 1;
            subject = ++retry;
        } else {
            return 0;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}
