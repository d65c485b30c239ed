// SPDX-License-Identifier: Apache-2.0
// Runs made by hand for the tests of the report: models, facts and verdicts with every kind of
// content, independent of the analyses. Threads: none.
#ifndef LIGHTMETER_TESTS_REPORT_SAMPLE_H
#define LIGHTMETER_TESTS_REPORT_SAMPLE_H

#include "analyze/facts.h"
#include "analyze/verdict.h"
#include "model/model.h"

struct sample {
    struct model *model;
    struct facts facts;
    struct verdict verdict;
};

// One thread with items and a pool of a library; bound by decoding; all measured; 60 items.
struct sample *sample_pipeline(void);

// Two threads and a queue; names that try to break the layout: long, wide, with control characters,
// escapes, pipes, backticks and broken UTF-8; medium confidence; tails that n allows and not.
struct sample *sample_nasty(void);

// A static program: no spans, no items, hardly anything measured.
struct sample *sample_empty(void);

// Spans without items, wall time only, a damaged trace with drops, killed by a signal.
struct sample *sample_damaged(void);

void sample_free(struct sample **s);

#endif
