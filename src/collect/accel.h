// SPDX-License-Identifier: Apache-2.0
// Accelerators as seen from outside: how busy each is and how full its memory. The seam to the
// vendors' libraries, which are opened at run time and never linked: NVML today. Used by the
// sampler and `doctor`. Not run on hardware yet. A machine without the library is no failure.
// Threads: one owner.
#ifndef LIGHTMETER_COLLECT_ACCEL_H
#define LIGHTMETER_COLLECT_ACCEL_H

#include "trace/format.h"

#include <stdint.h>

#define ACCEL_NAME_BYTES 96

struct accel;

// Opens the library and nothing else: no driver is touched, no file of a device is opened. NULL
// when there is none, or when it lacks what is needed.
struct accel *accel_open(void);
void accel_close(struct accel **a);

// Starts the library, if that was not done yet. The number of devices; 0 when it cannot be used.
// Call it after the target was started, so that the target inherits nothing.
unsigned accel_count(struct accel *a);

// "" when the name is not known.
void accel_name(struct accel *a, unsigned device, char name[ACCEL_NAME_BYTES]);

// The status that the library gave when it could not be used; 0: none.
int accel_status(const struct accel *a);

// Calls take_fn once for each value that can be read now; `device` counts from 0.
typedef void (*accel_take_fn)(
    void *context, enum trace_metric metric, uint32_t device, uint64_t value);
void accel_read(struct accel *a, accel_take_fn take_fn, void *context);

#endif
