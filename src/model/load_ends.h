// SPDX-License-Identifier: Apache-2.0
// What a trace does not say outright: when processes and threads ended that were killed, and the
// processes that were only seen from outside. Used by the loader. Threads: one owner.
#ifndef LIGHTMETER_MODEL_LOAD_ENDS_H
#define LIGHTMETER_MODEL_LOAD_ENDS_H

#include "model/model.h"

// Fills start_ns, end_ns and command of processes, adds those that only samples tell of, and ends
// the threads that have no recorded end with their process. Samples may be in any order.
void load_ends_fill(struct model *m);

#endif
