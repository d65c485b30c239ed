// SPDX-License-Identifier: Apache-2.0
// For the fuzz targets: makes a trace of any bytes, so that what lies behind the sums is reached.
// Threads: no state.
#ifndef LIGHTMETER_TESTS_FUZZ_REPAIR_H
#define LIGHTMETER_TESTS_FUZZ_REPAIR_H

#include <stddef.h>
#include <stdint.h>

// Makes the file header and the sums of all blocks right, as far as their lengths allow.
void repair_trace(uint8_t *bytes, size_t length_bytes);

#endif
