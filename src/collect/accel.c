// SPDX-License-Identifier: Apache-2.0
// NVML by dlopen, see accel.h. Its functions have kept their signatures since 2012; the structs
// below are those of nvmlUtilization_t and nvmlMemory_t, which NVML's own rules of versions keep.
// Threads: one owner.
#include "collect/accel.h"

#include "base/heap.h"

#include <dlfcn.h>
#include <stdlib.h>

#define LIBRARY "libnvidia-ml.so.1"
#define DEVICES_LIMIT 32

struct utilization {
    unsigned gpu_percent, memory_percent;
};

struct memory {
    unsigned long long total_bytes, free_bytes, used_bytes;
};

typedef int plain_fn(void);
typedef int count_fn(unsigned *count);
typedef int handle_fn(unsigned device, void **handle);
typedef int name_fn(void *handle, char *name, unsigned name_bytes);
typedef int utilization_fn(void *handle, struct utilization *now);
typedef int memory_fn(void *handle, struct memory *now);

struct accel {
    void *library;
    plain_fn *init, *shutdown;
    count_fn *count;
    handle_fn *handle;
    name_fn *name;
    utilization_fn *utilization;
    memory_fn *memory;
    int is_started, status;
    unsigned device_count;
    void *devices[DEVICES_LIMIT];
};

static int find(struct accel *a)
{
    *(void **)&a->init = dlsym(a->library, "nvmlInit_v2");
    *(void **)&a->shutdown = dlsym(a->library, "nvmlShutdown");
    *(void **)&a->count = dlsym(a->library, "nvmlDeviceGetCount_v2");
    *(void **)&a->handle = dlsym(a->library, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&a->name = dlsym(a->library, "nvmlDeviceGetName");
    *(void **)&a->utilization = dlsym(a->library, "nvmlDeviceGetUtilizationRates");
    *(void **)&a->memory = dlsym(a->library, "nvmlDeviceGetMemoryInfo");
    return a->init && a->shutdown && a->count && a->handle && a->name && a->utilization &&
           a->memory;
}

struct accel *accel_open(void)
{
    void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return NULL;
    struct accel *a = heap_alloc(1, sizeof *a);
    a->library = library;
    if (!find(a))
        accel_close(&a);
    return a;
}

void accel_close(struct accel **a)
{
    if (!*a)
        return;
    if ((*a)->is_started && !(*a)->status)
        (*a)->shutdown();
    dlclose((*a)->library);
    free(*a);
    *a = NULL;
}

static void start(struct accel *a)
{
    unsigned count = 0;
    a->is_started = 1;
    a->status = a->init();
    if (a->status || a->count(&count) != 0)
        return;
    for (unsigned i = 0; i < count && a->device_count < DEVICES_LIMIT; i++)
        if (a->handle(i, &a->devices[a->device_count]) == 0)
            a->device_count++;
}

unsigned accel_count(struct accel *a)
{
    if (!a->is_started)
        start(a);
    return a->device_count;
}

void accel_name(struct accel *a, unsigned device, char name[ACCEL_NAME_BYTES])
{
    name[0] = 0;
    if (device < accel_count(a) && a->name(a->devices[device], name, ACCEL_NAME_BYTES) != 0)
        name[0] = 0;
    name[ACCEL_NAME_BYTES - 1] = 0;
}

int accel_status(const struct accel *a)
{
    return a->status;
}

void accel_read(struct accel *a, accel_take_fn take_fn, void *context)
{
    const unsigned count = accel_count(a);
    for (unsigned i = 0; i < count; i++) {
        struct utilization busy = {0, 0};
        struct memory memory = {0, 0, 0};
        if (a->utilization(a->devices[i], &busy) == 0) {
            take_fn(context, TRACE_METRIC_ACCEL_BUSY_PERCENT, i, busy.gpu_percent);
            take_fn(context, TRACE_METRIC_ACCEL_MEMORY_BUSY_PERCENT, i, busy.memory_percent);
        }
        if (a->memory(a->devices[i], &memory) == 0) {
            take_fn(context, TRACE_METRIC_ACCEL_USED_BYTES, i, memory.used_bytes);
            take_fn(context, TRACE_METRIC_ACCEL_TOTAL_BYTES, i, memory.total_bytes);
        }
    }
}
