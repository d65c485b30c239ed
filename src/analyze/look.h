// SPDX-License-Identifier: Apache-2.0
// How detectors look at facts: which thread holds the rest up, what it does, how many cores are
// left; and how they write evidence. Used by detectors/*.c and verdict.c. Threads: no state.
#ifndef LIGHTMETER_ANALYZE_LOOK_H
#define LIGHTMETER_ANALYZE_LOOK_H

#include "analyze/verdict.h"

// Below these a run says too little about its steady state.
#define LOOK_STEADY_LEAST_NS 50000000
#define LOOK_ITEMS_LEAST 5u
#define LOOK_ITEMS_WORTH_NS 1000000000 // fewer items are enough when they took this long

int look_is_too_short(const struct facts *f);

// Whether other programs took so much of the machine that this run waited for cores it would have
// had: nothing about its own limits can be read from it then.
int look_is_crowded_out(const struct facts *f);

// The item-carrying thread that waits least for other threads: the others wait for it. NULL: none.
const struct facts_thread *look_limiting(const struct facts *f);

// Share of the steady window (0 to 1) that a thread wanted the CPU, had it, was busy in any way but
// waiting for others, its source or a clock.
double look_wanted_ratio(const struct facts *f, const struct facts_thread *t);
double look_cpu_ratio(const struct facts *f, const struct facts_thread *t);
double look_busy_ratio(const struct facts *f, const struct facts_thread *t);
double look_ratio(const struct facts *f, uint64_t ns); // of the steady window

// The stage that a thread spends most time in, as its word; "" when most is outside all stages.
const char *look_stage(const struct facts *f, const struct facts_thread *t);

// The largest stage by share, `wait` left out; NULL: none.
const struct facts_stage *look_largest(const struct facts *f);

// "Decoding", "Inference", "Stage 'x'", "Code outside the known stages" for "".
const char *look_subject(struct arena *a, const struct facts *f, const char *stage);

// The line that most of the time outside of all stages belongs to; NULL: none stands out, or no
// lines are known.
const struct facts_line *look_hot(const struct facts *f);

// The evidence for that line (NULL: there is none), and what to do about time outside of all
// stages.
const char *look_hot_text(const struct facts *f, struct arena *a);
const char *look_hot_advice(const struct facts *f, struct arena *a);

int look_percent(double ratio);
const char *look_duration(struct arena *a, double ns); // "1.2 s", "35 ms", "80 us"
const char *look_cores(struct arena *a, double cores); // "one core", "2 cores", "1.5 cores"

// Adds a line of evidence; the format is printf's. `e` holds everything but the text.
void look_add(struct arena *a, struct finding *out, struct evidence e, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// Makes all evidence for the second signal mere context: what it shows does not decide.
void look_demote(struct finding *out);
void look_how(struct finding *out, const char *text);
void look_wont(struct finding *out, const char *text);

// Evidence: how many of its allowed cores the program used (signal as given).
void look_add_cores(const struct facts *f, struct arena *a, struct finding *out, int signal);

#endif
