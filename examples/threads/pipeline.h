// SPDX-License-Identifier: Apache-2.0
// The pipeline: the caller reads files, decoder threads make pixels, one thread shrinks them, one
// writes; bounded queues between them. Stages, items and queues carry Lightmeter's marks.
// Used by main.c. Does not parse the command line. Threads: starts its own and ends them.
#ifndef EXAMPLES_THREADS_PIPELINE_H
#define EXAMPLES_THREADS_PIPELINE_H

#include "base/err.h"
#include "threads/options.h"

// Makes the small picture of each photograph and prints a line for it, in the order of the list.
// Photographs that cannot be used are named on stderr. Returns how many those were, or -1 with a
// message when the pipeline could not be set up. Returns after its threads have ended.
long pipeline_run(const struct options *options, struct err *e);

#endif
