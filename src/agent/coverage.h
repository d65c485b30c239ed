// SPDX-License-Identifier: Apache-2.0
// Which libraries the hooks reach in this process, for the report's coverage table. Counted while
// scanning, written once at the end of the process. Threads: any; counts are atomic.
#ifndef LIGHTMETER_AGENT_COVERAGE_H
#define LIGHTMETER_AGENT_COVERAGE_H

// A slot was pointed at a hook of the set (index into hook_sets).
void coverage_add(int set);

// An object was loaded; it may be a library that a set follows.
void coverage_see(const char *object);

// Writes a line for each set: covered, uninstrumented (loaded, but not reached), or absent.
void coverage_report(void);

#endif
