// SPDX-License-Identifier: Apache-2.0
// Models made by hand and by chance for the tests of the exporters. Threads: none.
#ifndef LIGHTMETER_TESTS_EXPORT_SAMPLE_H
#define LIGHTMETER_TESTS_EXPORT_SAMPLE_H

#include "model/model.h"

// A span on a thread; `parent` MODEL_NONE: outermost. Returns its index. Spans are given as the
// model holds them: children before their parent, set with sample_set_parent.
uint32_t sample_span(
    struct model *m, uint32_t thread, const char *name, int64_t start_ns, int64_t end_ns);

// Makes the span a fold of `calls` calls that took `self_ns`.
void sample_make_fold(
    struct model *m, uint32_t thread, uint32_t span, uint32_t calls, uint64_t self_ns);

// Sets parents and depths from nesting: each span's parent is the smallest later span that is no
// fold and encloses it. Own times follow.
void sample_nest(struct model *m, uint32_t thread);

void sample_item(struct model *m, uint32_t thread, enum trace_item_op op, int64_t at_ns,
    uint64_t id, uint64_t other);

// Two processes, three threads; nesting, empty spans, folds that nest and folds that do not, odd
// names, attributes, items through two threads and a batch, queues, counters, samples.
struct model *sample_pipeline(void);

// Three threads of up to a few hundred spans and folds, by chance from `seed`.
struct model *sample_random(uint64_t seed);

#endif
