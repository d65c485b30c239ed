// SPDX-License-Identifier: Apache-2.0
// The table of functions and libraries that are never mapped. A trampoline is a call: its frame is
// gone when the function has returned once, it lies between the function and its caller, and it
// keeps the registers that the ABI says a call must keep. Whatever relies on more is here.
// Asked by stage_map.c. Threads: no state.
#include "agent/stage_map_never.h"

#include "agent/config.h"

#include <stddef.h>

struct rule {
    enum stage_map_never why;
    const char *pattern;
};

// By the file that defines it.
static const struct rule files[] = {
    // All others call them, in every state that a process can be in: before its start, after its
    // end, in a half-made thread, in a signal handler, with the loader's lock held.
    {NEVER_SYSTEM, "libc.so*"},
    {NEVER_SYSTEM, "libc-2*"},
    {NEVER_SYSTEM, "ld-*"},
    {NEVER_SYSTEM, "ld.so*"},
    {NEVER_SYSTEM, "linux-vdso*"},
    {NEVER_SYSTEM, "libpthread.so*"},
    {NEVER_SYSTEM, "libpthread-2*"},
    {NEVER_SYSTEM, "libdl.so*"},
    {NEVER_SYSTEM, "libdl-2*"},
    {NEVER_SYSTEM, "libm.so*"},
    {NEVER_SYSTEM, "libm-2*"},
    {NEVER_SYSTEM, "libmvec*"},
    {NEVER_SYSTEM, "librt.so*"},
    {NEVER_SYSTEM, "librt-2*"},
    {NEVER_SYSTEM, "libresolv.so*"},
    {NEVER_SYSTEM, "libnss_*"},
    {NEVER_SYSTEM, "libanl.so*"},
    {NEVER_SYSTEM, "libutil.so.1"},
    {NEVER_SYSTEM, "libc_malloc_debug*"},
    {NEVER_SYSTEM, "liblightmeter-*"},
    // Their own stand-ins for the functions of libc.
    {NEVER_SYSTEM, "libasan*"},
    {NEVER_SYSTEM, "libhwasan*"},
    {NEVER_SYSTEM, "liblsan*"},
    {NEVER_SYSTEM, "libtsan*"},
    {NEVER_SYSTEM, "libubsan*"},
    {NEVER_SYSTEM, "libclang_rt*"},
    {NEVER_UNWINDER, "libgcc_s*"},
    {NEVER_UNWINDER, "libunwind*"},
    {NEVER_UNWINDER, "libc++abi*"},
    {NEVER_TWICE, "libitm*"},
    // Vector functions that keep registers which the ABI lets a call spoil.
    {NEVER_REGISTERS, "libsvml*"},
    {NEVER_REGISTERS, "libintlc*"},
};

// By its symbol, wherever it is defined.
static const struct rule symbols[] = {
    {NEVER_TWICE, "setjmp"},
    {NEVER_TWICE, "_setjmp"},
    {NEVER_TWICE, "__setjmp"},
    {NEVER_TWICE, "sigsetjmp"},
    {NEVER_TWICE, "_sigsetjmp"},
    {NEVER_TWICE, "__sigsetjmp"},
    {NEVER_TWICE, "longjmp"},
    {NEVER_TWICE, "_longjmp"},
    {NEVER_TWICE, "siglongjmp"},
    {NEVER_TWICE, "__longjmp_chk"},
    {NEVER_TWICE, "savectx"},
    {NEVER_TWICE, "vfork"},
    {NEVER_TWICE, "__vfork"},
    {NEVER_TWICE, "getcontext"},
    {NEVER_TWICE, "setcontext"},
    {NEVER_TWICE, "makecontext"},
    {NEVER_TWICE, "swapcontext"},
    {NEVER_TWICE, "*_fcontext"}, // Boost's coroutines
    {NEVER_TWICE, "_ITM_*"},     // transactions
    {NEVER_UNWINDER, "_Unwind_*"},
    {NEVER_UNWINDER, "__cxa_*"},
    {NEVER_UNWINDER, "__gxx_personality*"},
    {NEVER_UNWINDER, "__gcc_personality*"},
    {NEVER_UNWINDER, "__register_frame*"},
    {NEVER_UNWINDER, "__deregister_frame*"},
    {NEVER_UNWINDER, "unw_*"},
    {NEVER_UNWINDER, "_U*x86_64_*"}, // libunwind's
    {NEVER_REGISTERS, "mcount"},
    {NEVER_REGISTERS, "_mcount"},
    {NEVER_REGISTERS, "__fentry__"},
    {NEVER_REGISTERS, "__morestack*"},
    {NEVER_REGISTERS, "__svml_*"},
    {NEVER_REGISTERS, "__tls_get_addr"},
    {NEVER_SYSTEM, "__asan_*"},
    {NEVER_SYSTEM, "__hwasan_*"},
    {NEVER_SYSTEM, "__lsan_*"},
    {NEVER_SYSTEM, "__tsan_*"},
    {NEVER_SYSTEM, "__ubsan_*"},
    {NEVER_SYSTEM, "__sanitizer_*"},
    {NEVER_SYSTEM, "__interceptor_*"},
    {NEVER_SYSTEM, "__libc_*"},
    {NEVER_SYSTEM, "_dl_*"},
};

static enum stage_map_never match(const struct rule *rules, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        if (config_matches(rules[i].pattern, text))
            return rules[i].why;
    }
    return NEVER_NOT;
}

enum stage_map_never stage_map_never(const char *symbol, const char *file)
{
    enum stage_map_never why = match(symbols, sizeof symbols / sizeof *symbols, symbol);
    return why ? why : match(files, sizeof files / sizeof *files, file);
}

const char *stage_map_never_text(enum stage_map_never why)
{
    static const char *const texts[NEVER_COUNT] = {
        [NEVER_NOT] = "",
        [NEVER_SYSTEM] = "libc, the loader, the compiler's runtime",
        [NEVER_TWICE] = "what returns twice or jumps (setjmp, vfork)",
        [NEVER_UNWINDER] = "the unwinder",
        [NEVER_REGISTERS] = "calls with rules of their own",
        [NEVER_DATA] = "data",
        [NEVER_VALUE] = "functions used as pointers",
        [NEVER_AMBIGUOUS] = "functions defined twice",
        [NEVER_FULL] = "functions beyond the first 1024",
    };
    return texts[why];
}
