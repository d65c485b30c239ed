// SPDX-License-Identifier: Apache-2.0
// Declares the detectors of registry.def. Included by verdict.c and by each detector, so that the
// registry and the definitions agree. Threads: none.
#ifndef LIGHTMETER_ANALYZE_DETECTORS_H
#define LIGHTMETER_ANALYZE_DETECTORS_H

#include "analyze/verdict.h"

#define ROW(name) extern const struct detector detector_##name;
#include "analyze/detectors/registry.def"
#undef ROW

#endif
