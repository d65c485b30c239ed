// SPDX-License-Identifier: Apache-2.0
// GOT patching: the slots of every loaded object that call a hooked function of a third-party
// library are pointed at our thunk, and the exact original is kept. Scans once at start, and again
// when a library was loaded since (noticed at the entry of dlsym). Threads: one scan at a time;
// others go on.
#ifndef LIGHTMETER_AGENT_PATCH_H
#define LIGHTMETER_AGENT_PATCH_H

#include <stddef.h>

// The first scan. Called once when recording is on.
void patch_start(void);

// Scans again if libraries came or went since the last scan. Cheap when not (about 20 ns).
void patch_rescan(void);

// The thunk for `original` found under `name` (by dlsym); `original` itself when it is not hooked.
void *patch_pointer(const char *name, void *original);

// Whether `name` is one that patch_pointer may exchange.
int patch_is_hooked(const char *name);

// Waits until no scan is going on, not for ever, and keeps the next from beginning until
// patch_release. 0: it could not; nothing is to be released. For a fork: a scan holds the loader's
// list lock, which a child would never get.
int patch_hold(void);
void patch_release(void);

// In a forked child, once: a scan that the fork cut short is not going on here.
void patch_see_fork(void);

// The calling thread is about to open a library.
void patch_opening(void);

// Writes what is covered, what is loaded but not reached, and what is absent, to the process file.
void patch_report_coverage(void);

#endif
