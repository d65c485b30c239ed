// SPDX-License-Identifier: Apache-2.0
// What the launcher asked for: the file `config` in the run directory, lines of words. Read once at
// start into fixed storage, with raw system calls and no allocation. Threads: read-only afterwards.
#ifndef LIGHTMETER_AGENT_CONFIG_H
#define LIGHTMETER_AGENT_CONFIG_H

#include <stdint.h>

#define CONFIG_MAPS 128
#define CONFIG_RANGES 128
#define CONFIG_NO_HOOKS 32

// One entry of a stage map: functions whose symbol matches, or all functions of matching libraries.
struct config_map {
    const char *pattern; // glob with '*' and '?'
    const char *stage;
    int is_library;
};

// A rule for ranges that the program names itself.
struct config_range {
    const char *pattern; // glob on "domain:name" or on the name alone; may hold blanks
    const char *word;    // a stage, "item" or "ignore"
};

struct config {
    int clock_is_tsc;
    uint64_t scale_mult;
    uint32_t scale_shift;
    uint32_t filters; // of system calls, that the launcher is under itself (seccomp)
    const char *no_hooks[CONFIG_NO_HOOKS];
    int no_hook_count;
    struct config_map maps[CONFIG_MAPS];
    int map_count;
    int is_opencv_traced; // --opencv-trace
    int is_cuda_activity; // --cuda-activity
    struct config_range ranges[CONFIG_RANGES];
    int range_count;
};
extern struct config config;

// Reads RUN_DIR/config. 0, or -1 when it is missing or not understood (then the agent stays off).
int config_read(const char *run_dir);

// Whether the hook set `name` was switched off with --no-hook.
int config_is_off(const char *name);

// Glob match with '*' and '?'.
int config_matches(const char *pattern, const char *text);

#endif
