// SPDX-License-Identifier: Apache-2.0
// The life of the agent in one process image: start from the environment, go on in a forked child,
// finish at exit; and the process file that holds names, coverage and notes. Not on hot paths.
// Threads: the first thread to come starts it; others let their calls through unrecorded meanwhile.
#ifndef LIGHTMETER_AGENT_PROCESS_H
#define LIGHTMETER_AGENT_PROCESS_H

#include "agent/thread.h"

enum process_end { PROCESS_EXIT = 1, PROCESS_UNDERSCORE_EXIT = 2 };

// Starts recording when LIGHTMETER_RUN_DIR names a run directory. 0 when recording is on.
int process_start(void);

// In a forked child, before its first record: a process file and names of its own. 0 when on.
int process_restart(void);

// The process is about to end: what is known of its threads is written down.
void process_finish(enum process_end how);

// The program is about to have its system calls restricted, so that one of ours could end it: what
// is known is written, and nothing is recorded from here on, in this process and its forks. When
// this returns no thread makes a system call of ours any more.
void process_quiet(const char *why);

// Adds a text record to the process file; `parts` are joined with NUL bytes. Lock-free.
void process_text(enum trace_text_use use, uint16_t id, uint32_t subject, uint32_t aux,
    const char *const *parts, int count);

// A note for the report: "hook set x: ...".
void process_note(const char *text);

#endif
