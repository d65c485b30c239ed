// SPDX-License-Identifier: Apache-2.0
// A stand-in for CUPTI's activity interface: each flush hands over a kernel of 3 ms, a copy of 1
// ms, a memset of 0.5 ms, a kernel whose times are not known, and a record of a kind that nobody
// knows. test_hooks_cuda.py gives it the name libcupti.so.12. CUPTI_STAND_IN: "refuse" (another
// profiler is there), "partly" (for memsets) or "full" (it takes more buffers than there can be).
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MANY 40

typedef void request_fn(uint8_t **buffer, size_t *room_bytes, size_t *most_records);
typedef void complete_fn(
    void *context, uint32_t stream, uint8_t *buffer, size_t room_bytes, size_t used_bytes);

// Of 64 bytes each, for short; what lies at the front is as in CUPTI.
struct record {
    uint32_t kind, how;
    uint64_t bytes; // of a kernel: its use of caches
    uint64_t start_ns, end_ns;
    uint64_t rest[4];
};

static request_fn *request;
static complete_fn *complete;
static unsigned enabled;

static int is_mode(const char *mode)
{
    const char *set = getenv("CUPTI_STAND_IN");
    return set && strcmp(set, mode) == 0;
}

int cuptiActivityRegisterCallbacks(request_fn *on_request, complete_fn *on_complete);
__attribute__((visibility("default"))) int cuptiActivityRegisterCallbacks(
    request_fn *on_request, complete_fn *on_complete)
{
    request = on_request;
    complete = on_complete;
    return 0;
}

int cuptiActivityEnable(int kind);
__attribute__((visibility("default"))) int cuptiActivityEnable(int kind)
{
    if (is_mode("refuse") || (is_mode("partly") && kind == 2))
        return 39;
    enabled |= 1u << kind;
    return 0;
}

// Of "partly": an error in the end where something was left on.
__attribute__((destructor)) static void look(void)
{
    if (is_mode("partly") && enabled)
        _Exit(99);
}

int cuptiActivityDisable(int kind);
__attribute__((visibility("default"))) int cuptiActivityDisable(int kind)
{
    enabled &= ~(1u << kind);
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t used_bytes, void **record);
__attribute__((visibility("default"))) int cuptiActivityGetNextRecord(
    uint8_t *buffer, size_t used_bytes, void **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + sizeof(struct record) : buffer;
    if (next + sizeof(struct record) > buffer + used_bytes)
        return 12;
    *record = next;
    return 0;
}

static void fill(uint8_t *buffer, size_t room_bytes)
{
    static const struct record all[] = {{.kind = 10, .start_ns = 1000, .end_ns = 3001000},
        {.kind = 1, .bytes = 4096, .start_ns = 5000, .end_ns = 1005000},
        {.kind = 2, .bytes = 64, .start_ns = 7000, .end_ns = 507000}, {.kind = 10},
        {.kind = 77, .start_ns = 1, .end_ns = 1000000000}};
    if (!buffer || room_bytes < sizeof all || (enabled & 0x406) != 0x406)
        return;
    memcpy(buffer, all, sizeof all);
    complete(NULL, 0, buffer, room_bytes, sizeof all);
}

int cuptiActivityFlushAll(uint32_t flags);
__attribute__((visibility("default"))) int cuptiActivityFlushAll(uint32_t flags)
{
    uint8_t *buffers[MANY];
    size_t room_bytes[MANY], most_records;
    const int count = is_mode("full") ? MANY : 1;
    for (int i = 0; i < count; i++)
        request(&buffers[i], &room_bytes[i], &most_records);
    for (int i = 0; i < count; i++)
        fill(buffers[i], room_bytes[i]);
    return (int)flags;
}
