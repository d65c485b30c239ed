// SPDX-License-Identifier: Apache-2.0
// What the agent offers to code of ours in the program that wraps calls from outside, as the Python
// shim does: found by dlsym(RTLD_DEFAULT, "lightmeter_calls_v1"). Fields are only ever appended.
// Threads: any; nothing fails, locks, or changes errno.
#ifndef LIGHTMETER_AGENT_CALLS_H
#define LIGHTMETER_AGENT_CALLS_H

#include <stdint.h>

enum lm_call_flag {
    LM_CALL_FOLD = 1,       // called very often: always folded
    LM_CALL_FOLD_SHORT = 2, // folded when it was short and the thread was not switched out
};

struct lm_calls {
    uint32_t version, length_bytes; // 1; of this struct as the agent knows it
    // What calls of the name (both texts are copied) are; 0 when nothing is recorded now. `cause`:
    // enum trace_cause of its waiting.
    uint32_t (*call)(const char *name, const char *stage, uint32_t cause, uint32_t flags);
    // Around each call, with the address of a frame of the caller's that both have in common.
    uint32_t (*begin)(uint32_t call, uintptr_t stack);
    void (*end)(uint32_t token, uintptr_t stack);
    // A line of the report's coverage.
    void (*cover)(const char *library, const char *hooks, const char *status, const char *why);
    // Whether the user switched the set off.
    int (*is_off)(const char *hooks);
    // The shim is at work in this process, in a CPython of that PY_VERSION_HEX with its _PyRuntime
    // there (0: not known).
    void (*is_up)(uint64_t version, uintptr_t runtime);
};

#endif
