// SPDX-License-Identifier: Apache-2.0
// A stand-in for NVML where there is no NVIDIA driver: two devices, the second of which tells
// little. NVML_STATUS makes its start fail with that status. Like a driver's library it opens a
// file once it is started, which no other process should inherit. Built as libnvidia-ml.so.1 for
// test_accel.py.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

struct utilization {
    unsigned gpu, memory;
};

struct memory {
    unsigned long long total, free, used;
};

#pragma GCC visibility push(default)
int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned device, void **handle);
int nvmlDeviceGetName(void *handle, char *name, unsigned length);
int nvmlDeviceGetUtilizationRates(void *handle, struct utilization *now);
int nvmlDeviceGetMemoryInfo(void *handle, struct memory *now);
#pragma GCC visibility pop

static int devices[2], is_started;

int nvmlInit_v2(void)
{
    const char *status = getenv("NVML_STATUS");
    if (status)
        return atoi(status);
    is_started = open("/dev/null", O_RDONLY) >= 0; // no O_CLOEXEC
    return is_started ? 0 : 999;
}

int nvmlShutdown(void)
{
    return is_started ? 0 : 1;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = 2;
    return is_started ? 0 : 1;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned device, void **handle)
{
    *handle = device < 2 ? &devices[device] : NULL;
    return device < 2 ? 0 : 2;
}

int nvmlDeviceGetName(void *handle, char *name, unsigned length)
{
    snprintf(name, length, "Stand-in %d", handle == &devices[1]);
    return 0;
}

int nvmlDeviceGetUtilizationRates(void *handle, struct utilization *now)
{
    *now = (struct utilization){37, 11};
    return handle == &devices[0] ? 0 : 3; // not supported
}

int nvmlDeviceGetMemoryInfo(void *handle, struct memory *now)
{
    (void)handle;
    *now = (struct memory){8000000000, 5000000000, 3000000000};
    return 0;
}
