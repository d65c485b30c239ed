// SPDX-License-Identifier: Apache-2.0
// Asks by cachestat(2), which Linux has since 6.5. A host's filter of system calls may not know it
// and end the host for it, so it is not asked under any filter, the launcher's own included. Called
// on opening only. Allocates nothing. Threads: any; what is remembered are hints.
#include "agent/resident.h"

#include "agent/config.h"
#include "agent/span.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

// The same number on all machines that we build for; glibc has no name for it before 2.38.
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

// The kernel's structs.
struct cache_range {
    uint64_t from_bytes, length_bytes;
};
struct cache_counts {
    uint64_t cached, dirty, writeback, evicted, recently_evicted; // pages
};
_Static_assert(sizeof(struct cache_range) == 16, "struct cachestat_range");
_Static_assert(sizeof(struct cache_counts) == 40, "struct cachestat");

// So many files in a row of which it cannot be told: it is not asked again in this process. One
// file says nothing: some kernels tell it only of files that the process owns or may write.
#define FAILURES_MOST 32u
static _Atomic uint32_t failures;

static void note_failure(int error)
{
    if (error == ENOSYS)
        atomic_store_explicit(&failures, FAILURES_MOST, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&failures, 1, memory_order_relaxed);
}

// Whether no page is to be believed. File systems that lie on another one (overlayfs), keep pages
// themselves (ZFS) or ask a process (FUSE) have files without any page that are in memory all the
// same.
static int is_plain(int fd)
{
    static const uint32_t plain[] = {
        0xef53,     // ext2, ext3, ext4
        0x58465342, // XFS
        0x9123683e, // btrfs
        0xf2f52010, // F2FS
        0x01021994, // tmpfs
        0x6969,     // NFS
        0xfe534d42, // SMB
        0xff534d42, // CIFS
        0x00c36400, // Ceph
        0x73717368, // squashfs
        0xe0f5e1e2, // EROFS
        0x9660,     // ISO 9660
        0x4d44,     // FAT
        0x2011bab0, // exFAT
    };
    struct statfs system;
    if (fstatfs(fd, &system) != 0)
        return 0;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if ((uint32_t)system.f_type == plain[i])
            return 1;
    return 0;
}

static int may_ask(void)
{
    return !agent_is_quiet() && !config.filters && *agent.control == AGENT_RECORD &&
           atomic_load_explicit(&failures, memory_order_relaxed) < FAILURES_MOST;
}

void resident_note(uint32_t token, int fd, uint64_t length_bytes)
{
    if (!length_bytes || !span_frame(token) || !may_ask())
        return;
    const int saved_errno = errno;
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    const struct cache_range range = {
        0, length_bytes < RESIDENT_LOOK_BYTES ? length_bytes : RESIDENT_LOOK_BYTES};
    struct cache_counts counts = {0};
    if (syscall(SYS_cachestat, fd, &range, &counts, 0) != 0) {
        note_failure(errno);
    } else {
        atomic_store_explicit(&failures, 0, memory_order_relaxed);
        const uint64_t looked_at = (range.length_bytes + page_bytes - 1) / page_bytes;
        if (counts.cached || is_plain(fd))
            span_value_aux(
                token, TRACE_ATTR_RESIDENT, counts.cached | looked_at << 32, (uint32_t)page_bytes);
    }
    errno = saved_errno;
}
