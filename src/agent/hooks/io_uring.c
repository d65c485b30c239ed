// SPDX-License-Identifier: Apache-2.0
// Hook set io_uring: the calls of liburing and libaio that enter the kernel: to hand in what is to
// be read and written, and to wait until some of it is done. Known are liburing 2.0 to 2.9
// (io_uring_wait_cqe and its siblings are inline and call __io_uring_get_cqe when nothing is ready)
// and libaio's two versions of io_getevents: all parameters are integers and pointers, and pass
// through. Programs that make the system call themselves are not seen. Threads: any.
#include "agent/hook.h"

// Six registers; a call with fewer parameters ignores the rest. Results are an int or a long.
#define SIX uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f
#define SUBMIT_CALL(id)                                                                            \
    HOOK_CALL(uintptr_t, id, #id, "load", TRACE_CAUSE_IO, AGENT_FOLD_SHORT, PARAMS(SIX),           \
        ARGS(a, b, c, d, e, f))
#define WAIT_CALL(id)                                                                              \
    HOOK_TYPE(uintptr_t, id, PARAMS(SIX))                                                          \
    HOOK_NAME(id, #id, "wait", TRACE_CAUSE_IO, AGENT_FOLD_SHORT);                                  \
    static inline uintptr_t id##_body(id##_fn *real, SIX)                                          \
    {                                                                                              \
        HOOK_WAIT_OF(id, span);                                                                    \
        return real(a, b, c, d, e, f);                                                             \
    }                                                                                              \
    HOOK_THUNKS(uintptr_t, id, PARAMS(SIX), ARGS(a, b, c, d, e, f))

// What is handed in is not looked at. A read whose bytes are in memory is done within the call.
SUBMIT_CALL(io_uring_submit)
SUBMIT_CALL(io_uring_submit_and_get_events)
SUBMIT_CALL(io_submit)

WAIT_CALL(io_uring_submit_and_wait)
WAIT_CALL(io_uring_submit_and_wait_timeout)
WAIT_CALL(io_uring_submit_and_wait_min_timeout)
WAIT_CALL(io_uring_wait_cqes)
WAIT_CALL(io_uring_wait_cqes_min_timeout)
WAIT_CALL(io_uring_wait_cqe_timeout)
WAIT_CALL(__io_uring_get_cqe)
WAIT_CALL(__io_uring_sqring_wait)
WAIT_CALL(io_uring_get_events)
WAIT_CALL(io_uring_enter)
WAIT_CALL(io_uring_enter2)
WAIT_CALL(io_getevents)
WAIT_CALL(io_pgetevents)

#define LINE(id) HOOK_LINE(id, #id, 0)
static const struct hook_function functions[] = {
    LINE(io_uring_submit),
    LINE(io_uring_submit_and_get_events),
    LINE(io_uring_submit_and_wait),
    LINE(io_uring_submit_and_wait_timeout),
    LINE(io_uring_submit_and_wait_min_timeout),
    LINE(io_uring_wait_cqes),
    LINE(io_uring_wait_cqes_min_timeout),
    LINE(io_uring_wait_cqe_timeout),
    LINE(__io_uring_get_cqe),
    LINE(__io_uring_sqring_wait),
    LINE(io_uring_get_events),
    LINE(io_uring_enter),
    LINE(io_uring_enter2),
    LINE(io_submit),
    LINE(io_getevents),
    LINE(io_pgetevents),
    HOOK_END,
};

static const char *const libraries[] = {"liburing.so", "libaio.so", NULL};

const struct hook_set hook_io_uring = {
    .name = "io_uring",
    .help = "liburing and libaio: handing in and waiting",
    .libraries = libraries,
    .functions = functions,
    .is_named_broadly = 1,
};
