// SPDX-License-Identifier: Apache-2.0
// Findings and the one verdict. Each detector (detectors/NAME.c, one const struct) looks at the
// facts for one class of limit and says what it found, with its evidence; verdict_reach weighs them
// by the two-signal rule: high confidence only when two independent signals agree, inconclusive
// when signals conflict. Called by the report and by `run`. Threads: no shared state.
#ifndef LIGHTMETER_ANALYZE_VERDICT_H
#define LIGHTMETER_ANALYZE_VERDICT_H

#include "analyze/facts.h"
#include "base/arena.h"
#include "base/vec.h"

enum evidence_kind { EVIDENCE_MEASURED, EVIDENCE_DERIVED, EVIDENCE_ESTIMATED };

struct evidence {
    const char *text; // "decode keeps one thread on the CPU for 97 % of the steady time"
    enum evidence_kind kind;
    double value;
    const char *unit; // "ratio", "ns", "count", "items/s", ...
    int signal;       // which independent signal it supports: 1, 2; 0: context only
};

enum confidence { CONFIDENCE_INCONCLUSIVE, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };

struct detector;

// What one detector found. Strings live in the arena given to the detector.
struct finding {
    const struct detector *detector; // that found it
    const char *class_name;          // "cpu-single-thread"
    const char *stage;               // "" when it concerns the whole run
    const char *title;               // one plain sentence
    int first_signal, second_signal; // 1 seen, 0 could not be measured, -1 contradicted
    double weight_ratio;             // share of the steady time that it explains
    VEC(struct evidence) evidence;
    VEC(const char *) will_not_help;
    VEC(const char *) how; // what to do or to measure next
};

struct detector {
    const char *name; // the class, with '_' for '-', as in the registry
    const char *help; // one line
    int order; // contamination first: startup 10, cpu_quota 20, source_paced 30, resources 40..,
               // balanced 90
    // Fills *out and returns 1 when the first signal was seen, else 0. *out comes zeroed but for
    // detector, class_name and stage ("").
    int (*detect_fn)(const struct facts *f, struct arena *a, struct finding *out);
};

struct verdict {
    const char *class_name;
    const char *stage;
    enum confidence confidence;
    const char *
        headline; // plain words: "Decoding is 71 % of the time, on one core, while the other waits"
    VEC(struct evidence) evidence;
    VEC(const char *) will_not_help;
    VEC(const char *) how;
    VEC(struct finding) findings; // all that detectors found, in order of weight
    struct arena *arena;
};

// Never NULL. Borrows the facts.
struct verdict *verdict_reach(const struct facts *f);
void verdict_free(struct verdict **v);

// All detectors, in the registry's order, ended by NULL.
const struct detector *const *detector_all(void);

#endif
