// SPDX-License-Identifier: Apache-2.0
// The GOT patcher. A scan lists the loaded objects, waits until no dlopen of another thread is
// under way (so that all on the list are relocated), and then exchanges the slots of those it has
// not seen yet, under the loader's list lock and without calling the loader: a dlopen that only
// asks for a reference would run constructors before their turn. A slot that was not bound yet is
// resolved as the loader would. Called at start and from dlsym; one scan at a time. Nothing is
// unpatched: the agent stays.
#include "agent/patch.h"

#include "agent/bridge.h"
#include "agent/coverage.h"
#include "agent/elf_object.h"
#include "agent/library.h"
#include "agent/python_gil.h"
#include "agent/python_shim.h"
#include "agent/stage_map.h"
#include "agent/symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OBJECTS_LIMIT 2048
#define AHEAD 8          // relocations
#define HOLD_ROUNDS 1000 // about a tenth of a second: a scan takes some milliseconds
#define HOLD_ROUND_NS 100000

static struct {
    _Atomic int is_scanning, is_started;
    _Atomic int is_child, is_opening_seen; // of a fork; it has opened a library itself
    _Atomic unsigned long long adds, subs;
    uint64_t listed[OBJECTS_LIMIT]; // keys of the objects there are
    size_t listed_count;
    uint64_t seen[OBJECTS_LIMIT]; // keys of those already scanned
    size_t seen_count;
} patch;

static uint64_t key_of(const struct dl_phdr_info *info)
{
    uint64_t key = info->dlpi_addr * 0x9e3779b97f4a7c15u + (uintptr_t)info->dlpi_phdr;
    for (const char *c = info->dlpi_name; c && *c; c++)
        key = (key ^ (uint8_t)*c) * 0x100000001b3u;
    return key;
}

static int has_key(const uint64_t *keys, size_t count, uint64_t key)
{
    for (size_t i = 0; i < count; i++) {
        if (keys[i] == key)
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
    if (atomic_exchange(&patch.subs, info->dlpi_subs) != info->dlpi_subs) {
        patch.seen_count = 0; // something was unloaded: another object may lie at its address
        stage_map_forget();
        atomic_fetch_add(&library_unloads, 1);
        python_gil_forget();
        python_shim_forget();
    }
    if (patch.listed_count < OBJECTS_LIMIT)
        patch.listed[patch.listed_count++] = key_of(info);
    return 0;
}

typedef uintptr_t resolve_fn(const struct elf_object *o, size_t index);

// What the slot leads to now, or would when it is bound; 0 when there is no telling.
static uintptr_t bound_value(
    const struct elf_object *o, size_t index, uintptr_t value, resolve_fn *resolve)
{
    const ElfW(Sym) *symbol = &o->symbols[index];
    int is_inside = value >= o->low && value < o->high;
    int is_own = symbol->st_shndx != SHN_UNDEF && value == o->base + symbol->st_value;
    if (value && (!is_inside || is_own))
        return value;
    return value ? resolve(o, index) : 0;
}

static void *thunk_for(const struct hook_function *f, void *original)
{
    for (int i = 0; i < HOOK_VARIANTS; i++) {
        if (original == f->thunks[i])
            return NULL;
    }
    for (int i = 0; i < HOOK_VARIANTS; i++) {
        void *expected = NULL;
        if (__atomic_compare_exchange_n(
                &f->originals[i], &expected, original, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
            expected == original)
            return f->thunks[i];
    }
    return NULL;
}

// The pages of the object being scanned that the loader made constant, while they are writable.
static struct {
    uintptr_t low, high; // equal: none
} opened;

// The loader rounds both ends down.
static int open_constants(const struct elf_object *o)
{
    const uintptr_t page_mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    const uintptr_t low = o->relro_low & page_mask, high = o->relro_high & page_mask;
    if (opened.low == low && opened.high == high)
        return 0;
    if (mprotect((void *)low, high - low, PROT_READ | PROT_WRITE) != 0)
        return -1;
    opened.low = low;
    opened.high = high;
    return 0;
}

static void close_constants(void)
{
    if (opened.high > opened.low)
        mprotect((void *)opened.low, opened.high - opened.low, PROT_READ);
    opened.low = opened.high = 0;
}

static void store_slot(const struct elf_object *o, uintptr_t slot, void *value)
{
    const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    const int is_constant = slot >= o->relro_low && slot < (o->relro_high & ~(page_bytes - 1));
    if (!is_constant || open_constants(o) == 0)
        __atomic_store_n((void **)slot, value, __ATOMIC_RELEASE);
}

// A set may want its functions only where they are those of its libraries.
static int is_wanted(const struct symbols_hit *hit, const void *original)
{
    const struct hook_set *s = hook_sets[hit->set];
    return !s->is_named_broadly || library_is_any(s->libraries, (uintptr_t)original);
}

static void hook_slot(const struct elf_object *o, size_t index, uintptr_t slot, uintptr_t value,
    const struct symbols_hit *hit)
{
    void *original = (void *)bound_value(o, index, value, elf_object_resolve);
    void *thunk = original && is_wanted(hit, original) ? thunk_for(hit->function, original) : NULL;
    if (!thunk)
        return;
    store_slot(o, slot, thunk);
    coverage_add(hit->set);
}

static void map_slot(const struct elf_object *o, const ElfW(Rela) * r, uintptr_t value)
{
    size_t index = ELF64_R_SYM(r->r_info);
    struct stage_map_slot slot = {.caller = o,
        .symbol = o->strings + o->symbols[index].st_name,
        .address = o->base + r->r_offset,
        .original = bound_value(o, index, value, elf_object_resolve_only),
        .is_call_slot = elf_object_is_call_slot((uint32_t)ELF64_R_TYPE(r->r_info))};
    void *thunk = stage_map_thunk(&slot);
    if (thunk)
        store_slot(o, slot.address, thunk);
}

// Exchanges a pointer to a virtual function in a table that its own library made constant once it
// was relocated. A table elsewhere may be the program's data: it is left alone.
static void patch_table_entry(const struct elf_object *o, const ElfW(Rela) * r, size_t index)
{
    const ElfW(Sym) *symbol = &o->symbols[index];
    const uintptr_t slot = o->base + r->r_offset;
    if (symbol->st_shndx == SHN_UNDEF || r->r_addend || slot < o->relro_low ||
        slot >= o->relro_high)
        return;
    struct symbols_hit hit = symbols_find(o->strings + symbol->st_name);
    if (!hit.function || !(hit.function->attrs & HOOK_VIRTUAL))
        return;
    const uintptr_t value = __atomic_load_n((uintptr_t *)slot, __ATOMIC_ACQUIRE);
    if (value == o->base + symbol->st_value)
        hook_slot(o, index, slot, value, &hit);
}

static void patch_slot(const struct elf_object *o, const ElfW(Rela) * r)
{
    size_t index = ELF64_R_SYM(r->r_info);
    const uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
    if (index && elf_object_is_pointer(type))
        patch_table_entry(o, r, index);
    if (!index || !elf_object_is_slot(type))
        return;
    const char *name = o->strings + o->symbols[index].st_name;
    struct symbols_hit hit = symbols_find(name);
    uintptr_t slot = o->base + r->r_offset;
    uintptr_t value = __atomic_load_n((uintptr_t *)slot, __ATOMIC_ACQUIRE);
    if (hit.function)
        hook_slot(o, index, slot, value, &hit);
    else if (value && stage_map_is_wanted(name))
        map_slot(o, r, value);
}

// Names lie far apart, and are nearly all of what a scan waits for: asked for ahead.
static void patch_slots(const struct elf_object *o, const ElfW(Rela) * r, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i + 2 * AHEAD < count)
            __builtin_prefetch(&o->symbols[ELF64_R_SYM(r[i + 2 * AHEAD].r_info)]);
        if (i + AHEAD < count)
            __builtin_prefetch(o->strings + o->symbols[ELF64_R_SYM(r[i + AHEAD].r_info)].st_name);
        patch_slot(o, &r[i]);
    }
}

static int patch_object(struct dl_phdr_info *info, size_t length, void *unused)
{
    struct elf_object o;
    (void)length;
    (void)unused;
    uint64_t key = key_of(info);
    if (!has_key(patch.listed, patch.listed_count, key) ||
        has_key(patch.seen, patch.seen_count, key) || patch.seen_count == OBJECTS_LIMIT)
        return 0;
    patch.seen[patch.seen_count++] = key;
    if (is_left_alone(info))
        return 0;
    coverage_see(info->dlpi_name ? info->dlpi_name : "");
    if (elf_object_read(&o, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) < 0)
        return 0;
    python_gil_see(&o);
    python_shim_see(&o);
    for (int kind = 0; kind < 2; kind++)
        patch_slots(&o, o.relocations[kind], o.relocation_count[kind]);
    close_constants();
    return 0;
}

static void scan(void)
{
    int expected = 0;
    if (agent_is_quiet() || !atomic_compare_exchange_strong(&patch.is_scanning, &expected, 1))
        return;
    int saved_errno = errno;
    patch.listed_count = 0;
    dl_iterate_phdr(list_object, NULL);
    // Any look-up waits for a dlopen that another thread is in; what was listed is relocated then.
    hook_real_dlsym(RTLD_DEFAULT, "dl_iterate_phdr");
    dl_iterate_phdr(patch_object, NULL);
    errno = saved_errno;
    atomic_store(&patch.is_scanning, 0);
}

int patch_hold(void)
{
    for (int i = 0; i < HOLD_ROUNDS; i++) {
        int expected = 0;
        if (atomic_compare_exchange_strong(&patch.is_scanning, &expected, 1))
            return 1;
        if (agent_is_quiet())
            return 0;
        syscall(SYS_nanosleep, &(struct timespec){0, HOLD_ROUND_NS}, NULL);
    }
    return 0;
}

void patch_release(void)
{
    atomic_store(&patch.is_scanning, 0);
}

// In a child that has not been here yet. (The second word of the page that a fork wipes.)
void patch_see_fork(void)
{
    if (!agent.alive || atomic_load(&agent.alive[1]))
        return;
    atomic_store(&patch.is_scanning, 0);
    atomic_store(&patch.is_child, 1);
    atomic_store(&patch.is_opening_seen, 0);
    atomic_store(&agent.alive[1], 1);
}

void patch_opening(void)
{
    patch_see_fork();
    atomic_store(&patch.is_opening_seen, 1);
}

void patch_start(void)
{
    if (agent.alive)
        atomic_store(&agent.alive[1], 1);
    symbols_fill();
    elf_object_index_open();
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
    // Another thread of the parent may have held the list's lock in the fork; nobody releases it
    // here. Whoever opens a library takes it anyway.
    patch_see_fork();
    if (atomic_load(&patch.is_child) && !atomic_load(&patch.is_opening_seen))
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
    if (!original || !hit.function || !is_wanted(&hit, original))
        return original;
    void *thunk = thunk_for(hit.function, original);
    if (!thunk)
        return original;
    coverage_add(hit.set);
    return thunk;
}

void patch_report_coverage(void)
{
    if (!atomic_load(&patch.is_started))
        return;
    coverage_report();
    bridge_report_coverage();
    python_shim_report();
    stage_map_report();
}
