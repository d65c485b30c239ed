// SPDX-License-Identifier: Apache-2.0
// See calls.h. Threads: any.
#include "agent/calls.h"

#include "agent/config.h"
#include "agent/names.h"
#include "agent/process.h"
#include "agent/python_shim.h"
#include "agent/span.h"

#include <errno.h>

_Static_assert((int)LM_CALL_FOLD == AGENT_FOLD && (int)LM_CALL_FOLD_SHORT == AGENT_FOLD_SHORT,
    "handed on as they are");

static uint32_t call(const char *name, const char *stage, uint32_t cause, uint32_t flags)
{
    const int saved_errno = errno;
    const uint32_t id =
        agent_thread_open() && cause < TRACE_CAUSE_COUNT ? names_intern(name, stage, cause) : 0;
    errno = saved_errno;
    return id ? SPAN_WHAT(id, cause, flags & AGENT_FOLDED) : 0;
}

static uint32_t begin(uint32_t what, uintptr_t stack)
{
    const uint32_t token = span_begin_fast(what, stack);
    return token ? token : span_begin_slow(what, stack);
}

static void end(uint32_t token, uintptr_t stack)
{
    span_end(token, stack);
}

static void cover(const char *library, const char *hooks, const char *status, const char *why)
{
    const int saved_errno = errno;
    const char *parts[] = {library, hooks, status, why};
    if (agent_thread_open())
        process_text(TRACE_TEXT_COVERAGE, 0, 0, 0, parts, 4);
    errno = saved_errno;
}

extern const struct lm_calls lightmeter_calls_v1;
__attribute__((visibility("default"))) const struct lm_calls lightmeter_calls_v1 = {
    .version = 1,
    .length_bytes = sizeof(struct lm_calls),
    .call = call,
    .begin = begin,
    .end = end,
    .cover = cover,
    .is_off = config_is_off,
    .is_up = python_shim_is_up,
};
