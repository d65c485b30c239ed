// SPDX-License-Identifier: Apache-2.0
// The GOT patcher. A scan first lists the loaded objects under the loader's lock, then takes a
// reference to each new one (so that it cannot be unloaded) and exchanges its slots. A slot that was
// not bound yet is resolved first, as the loader would. Called at start and from dlsym; one scan at a
// time. Nothing is unpatched: the agent stays for the life of the process.
#include "agent/patch.h"

#include "agent/coverage.h"
#include "agent/elf_object.h"
#include "agent/stage_map.h"
#include "agent/symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OBJECTS_LIMIT 2048
#define NAME_BYTES 256

struct candidate {
    uintptr_t base;
    const ElfW(Phdr) * headers;
    size_t header_count;
    char name[NAME_BYTES];
};

static struct {
    _Atomic int is_scanning, is_started;
    _Atomic unsigned long long adds, subs;
    struct candidate list[256]; // new objects of this round
    size_t count;
    uint64_t seen[OBJECTS_LIMIT]; // keys of objects already scanned
    size_t seen_count;
} patch;

static uint64_t key_of(const struct dl_phdr_info *info)
{
    uint64_t key = info->dlpi_addr * 0x9e3779b97f4a7c15u + (uintptr_t)info->dlpi_phdr;
    for (const char *c = info->dlpi_name; c && *c; c++)
        key = (key ^ (uint8_t)*c) * 0x100000001b3u;
    return key;
}

static int is_seen(uint64_t key)
{
    for (size_t i = 0; i < patch.seen_count; i++) {
        if (patch.seen[i] == key)
            return 1;
    }
    return 0;
}

// Objects whose own calls are not followed: ourselves, the loader, libc and the kernel's.
static int is_left_alone(const struct dl_phdr_info *info)
{
    static const char *const names[] = {"/libc.so", "/ld-linux", "/ld-musl", "linux-vdso",
        "liblightmeter-agent", "/libm.so", "/libpthread.so", "/libdl.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (info->dlpi_name && strstr(info->dlpi_name, names[i]))
            return 1;
    }
    return 0;
}

static int list_object(struct dl_phdr_info *info, size_t length, void *unused)
{
    (void)length;
    (void)unused;
    atomic_store(&patch.adds, info->dlpi_adds);
    atomic_store(&patch.subs, info->dlpi_subs);
    uint64_t key = key_of(info);
    if (is_seen(key) || patch.count == sizeof patch.list / sizeof *patch.list)
        return 0;
    if (patch.seen_count < OBJECTS_LIMIT)
        patch.seen[patch.seen_count++] = key;
    const char *name = info->dlpi_name ? info->dlpi_name : "";
    if (is_left_alone(info) || strlen(name) >= NAME_BYTES)
        return 0;
    struct candidate *c = &patch.list[patch.count++];
    *c = (struct candidate){.base = info->dlpi_addr, .headers = info->dlpi_phdr,
        .header_count = info->dlpi_phnum};
    strcpy(c->name, name);
    return 0;
}

// Where the loader would bind the slot of an undefined symbol.
static void *resolve(const struct elf_object *o, void *handle, size_t index, const char *name)
{
    const char *version = elf_object_version(o, index);
    void *found = NULL;
    if (version && *version) {
        found = dlvsym(RTLD_DEFAULT, name, version);
        if (!found)
            found = dlvsym(handle, name, version);
    }
    if (!found)
        found = hook_real_dlsym(RTLD_DEFAULT, name);
    if (!found)
        found = hook_real_dlsym(handle, name);
    return found;
}

static void *bound_value(
    const struct elf_object *o, void *handle, size_t index, const char *name, uintptr_t value)
{
    const ElfW(Sym) *symbol = &o->symbols[index];
    int is_inside = value >= o->low && value < o->high;
    int is_own = symbol->st_shndx != SHN_UNDEF && value == o->base + symbol->st_value;
    if (value && (!is_inside || is_own))
        return (void *)value;
    return resolve(o, handle, index, name);
}

static void *thunk_for(const struct hook_function *f, void *original)
{
    for (int i = 0; i < HOOK_VARIANTS; i++) {
        if (original == f->thunks[i])
            return NULL;
    }
    for (int i = 0; i < HOOK_VARIANTS; i++) {
        void *expected = NULL;
        if (__atomic_compare_exchange_n(&f->originals[i], &expected, original, 0, __ATOMIC_ACQ_REL,
                __ATOMIC_ACQUIRE) ||
            expected == original)
            return f->thunks[i];
    }
    return NULL;
}

static void store_slot(const struct elf_object *o, uintptr_t slot, void *value)
{
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t page = slot & ~(page_bytes - 1);
    int is_relro = slot >= o->relro_low && slot < o->relro_high;
    if (is_relro && mprotect((void *)page, page_bytes, PROT_READ | PROT_WRITE) != 0)
        return;
    __atomic_store_n((void **)slot, value, __ATOMIC_RELEASE);
    if (is_relro && page + page_bytes <= o->relro_high)
        mprotect((void *)page, page_bytes, PROT_READ);
}

static void patch_slot(
    const struct elf_object *o, void *handle, const char *library, const ElfW(Rela) * r)
{
    size_t index = ELF64_R_SYM(r->r_info);
    if (!index || !elf_object_is_slot((uint32_t)ELF64_R_TYPE(r->r_info)))
        return;
    const char *name = o->strings + o->symbols[index].st_name;
    struct symbols_hit hit = symbols_find(name);
    uintptr_t slot = o->base + r->r_offset;
    uintptr_t value = __atomic_load_n((uintptr_t *)slot, __ATOMIC_ACQUIRE);
    if (hit.function) {
        void *original = bound_value(o, handle, index, name, value);
        void *thunk = original ? thunk_for(hit.function, original) : NULL;
        if (thunk) {
            store_slot(o, slot, thunk);
            coverage_add(hit.set, library);
        }
    } else if (stage_map_is_wanted(name)) {
        void *original = bound_value(o, handle, index, name, value);
        void *thunk = original ? stage_map_thunk(name, original) : NULL;
        if (thunk)
            store_slot(o, slot, thunk);
    }
}

static void patch_object(const struct candidate *c)
{
    struct elf_object o;
    void *handle = dlopen(*c->name ? c->name : NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) {
        dlerror();
        return;
    }
    coverage_see(c->name);
    if (elf_object_read(&o, c->base, c->headers, c->header_count) == 0) {
        for (int kind = 0; kind < 2; kind++) {
            for (size_t i = 0; i < o.relocation_count[kind]; i++)
                patch_slot(&o, handle, c->name, &o.relocations[kind][i]);
        }
    }
    dlclose(handle);
}

static void scan(void)
{
    int expected = 0;
    if (!atomic_compare_exchange_strong(&patch.is_scanning, &expected, 1))
        return;
    int saved_errno = errno;
    unsigned long long subs = atomic_load(&patch.subs);
    do {
        patch.count = 0;
        dl_iterate_phdr(list_object, NULL);
        if (atomic_load(&patch.subs) != subs) {
            // Something was unloaded: another object may lie at its address now.
            subs = atomic_load(&patch.subs);
            patch.seen_count = patch.count = 0;
            dl_iterate_phdr(list_object, NULL);
        }
        for (size_t i = 0; i < patch.count; i++)
            patch_object(&patch.list[i]);
    } while (patch.count == sizeof patch.list / sizeof *patch.list);
    errno = saved_errno;
    atomic_store(&patch.is_scanning, 0);
}

int patch_is_scanning(void)
{
    return atomic_load(&patch.is_scanning);
}

void patch_forked(void)
{
    atomic_store(&patch.is_scanning, 0);
}

void patch_start(void)
{
    symbols_fill();
    stage_map_start();
    atomic_store(&patch.is_started, 1);
    scan();
}

static int has_changed(struct dl_phdr_info *info, size_t length, void *result)
{
    (void)length;
    *(int *)result = info->dlpi_adds != atomic_load(&patch.adds);
    return 1;
}

void patch_rescan(void)
{
    int changed = 0;
    if (!atomic_load_explicit(&patch.is_started, memory_order_acquire))
        return;
    dl_iterate_phdr(has_changed, &changed);
    if (changed)
        scan();
}

int patch_is_hooked(const char *name)
{
    return atomic_load_explicit(&patch.is_started, memory_order_acquire) &&
           symbols_find(name).function;
}

void *patch_pointer(const char *name, void *original)
{
    struct symbols_hit hit = symbols_find(name);
    if (!original || !hit.function)
        return original;
    void *thunk = thunk_for(hit.function, original);
    if (!thunk)
        return original;
    coverage_add(hit.set, "(by dlsym)");
    return thunk;
}

void patch_report_coverage(void)
{
    if (!atomic_load(&patch.is_started))
        return;
    coverage_report();
    stage_map_report();
}
