// SPDX-License-Identifier: Apache-2.0
// The two events of LTTng-UST that bench/peers compares a hooked call with: one with a pointer and
// a size before a call, one with its result behind it. Included by bench/hooks.c where BENCH_LTTNG
// is set, and several times over by LTTng's own headers.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER lightmeter_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_events.h"

#if !defined(LIGHTMETER_BENCH_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LIGHTMETER_BENCH_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>

#include <stddef.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(lightmeter_bench, enter,
    LTTNG_UST_TP_ARGS(const void *, from, size_t, length_bytes),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, from, (uintptr_t)from)
            lttng_ust_field_integer(size_t, length_bytes, length_bytes)))
LTTNG_UST_TRACEPOINT_EVENT(lightmeter_bench, leave, LTTNG_UST_TP_ARGS(int, done),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, done, done)))

#endif

#include <lttng/tracepoint-event.h>
