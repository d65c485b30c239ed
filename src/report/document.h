// SPDX-License-Identifier: Apache-2.0
// The neutral document: what a report says, in order, before any format. Filled once from facts and
// a verdict; the terminal and Markdown formats lay out its blocks, the JSON format reads its data.
// Texts are raw (names as programs gave them): each format makes them safe for its medium. Knows
// nothing of widths, colours or markup. Threads: read-only after document_new.
#ifndef LIGHTMETER_REPORT_DOCUMENT_H
#define LIGHTMETER_REPORT_DOCUMENT_H

#include "analyze/facts.h"
#include "analyze/verdict.h"
#include "base/arena.h"
#include "base/vec.h"
#include "report/bar.h"

#include <stdint.h>

// How a statement was got. Measured is the rule in tables and is not marked there.
enum document_kind { DOCUMENT_PLAIN, DOCUMENT_MEASURED, DOCUMENT_DERIVED, DOCUMENT_ESTIMATED };

struct document_pair {
    const char *key;
    const char *text;
    enum document_kind kind; // DOCUMENT_PLAIN: not a number
};

enum document_column_kind {
    DOCUMENT_COLUMN_NAME,   // text from the run; takes the room that is left, and is cut to it
    DOCUMENT_COLUMN_TEXT,   // short words of ours
    DOCUMENT_COLUMN_NUMBER, // aligned to the right
    DOCUMENT_COLUMN_BAR,    // the row's bar; at most one, the last column
};

struct document_column {
    const char *title;
    enum document_column_kind kind;
};

#define DOCUMENT_COLUMNS_MAX 10

struct document_row {
    const char *cells[DOCUMENT_COLUMNS_MAX]; // one for each column but the bar; NULL: empty
    struct facts_split split;                // of the bar
    double bar_ratio;                        // length of the bar against its room, 0 .. 1
    int is_total;                            // sums up the rows above
};

struct document_table {
    VEC(struct document_column) columns;
    VEC(struct document_row) rows;
};

enum document_block_kind {
    DOCUMENT_TITLE,    // text: what was run; pairs[0].text: how it ended
    DOCUMENT_HEADLINE, // text: the verdict in one sentence
    DOCUMENT_HEADING,  // text; pairs[0].text, where there is one: what the section is about
    DOCUMENT_TEXT,     // text: a paragraph
    DOCUMENT_LIST,     // pairs[].text: points
    DOCUMENT_STEPS,    // pairs[].text: what to do, in order
    DOCUMENT_EVIDENCE, // pairs[].text and kind
    DOCUMENT_PAIRS,    // pairs[].key and text; kind where it is a number
    DOCUMENT_TABLE,    // table
    DOCUMENT_LEGEND,   // parts: the signs of the bars that the table above shows; text: what
                       // BAR_OTHER stands for, "" its usual label
};

struct document_block {
    enum document_block_kind kind;
    const char *text;
    VEC(struct document_pair) pairs;
    struct document_table table;
    unsigned parts; // bit set of enum bar_part
};

// What could not be measured in this run.
struct document_gap {
    const char *what; // "CPU quota throttling"
    const char *why;  // the reason, or what would make it measurable
};

struct document {
    struct arena *arena; // owns all strings made here
    const struct facts *facts;
    const struct model *model;
    const struct verdict *verdict;
    const char *source;  // "" when not known
    const char *command; // in one line, quoted as a shell reads it; "" when not known
    const char *title;   // the same with the program's name only, for a line that may be cut
    int64_t run_ns;      // the whole run
    int exit_status, exit_signal; // -1: not known
    VEC(struct document_gap) gaps;
    VEC(const char *) methods;
    VEC(const char *) steps;        // what to do next
    const char *item_stage_unknown; // --item-stage named nothing that was seen: what was; else NULL
    VEC(struct document_block) blocks;
};

// Never NULL. Borrows everything given, which must outlive it.
struct document *document_new(
    const struct facts *facts, const struct verdict *verdict, const char *source);
void document_free(struct document **d);

// ---- What fills it, in the order of the report (each in document_NAME.c).
// ------------------------

void document_fill_verdict(struct document *d);  // title, headline, evidence, what to do
void document_fill_numbers(struct document *d);  // items, rates, windows, the machine
void document_fill_stages(struct document *d);   // the table of stages, and how it adds up
void document_fill_details(struct document *d);  // calls, latencies, threads, queues
void document_fill_lines(struct document *d);    // the program's own Python code
void document_fill_coverage(struct document *d); // what was seen, what not, and how

// The data behind blocks.
void document_find_gaps(struct document *d);
void document_find_methods(struct document *d);
void document_find_steps(struct document *d);

// ---- Steps of filling.
// ---------------------------------------------------------------------------

// A new block at the end. The pointer lives until the next one is added.
struct document_block *document_add(
    struct document *d, enum document_block_kind kind, const char *text);
void document_add_pair(
    struct document_block *b, const char *key, const char *text, enum document_kind kind);
void document_add_column(
    struct document_block *b, const char *title, enum document_column_kind kind);
// A row with all cells empty.
struct document_row *document_add_row(struct document_block *b);

// The signs of the bars of the last table; says so when they could not tell CPU from waiting.
void document_add_legend(struct document *d);

const char *document_stage_text(const struct document *d, uint32_t stage);

// What the launcher knew of the process: an object of SUMMARY's "processes", or NULL.
const struct json *document_outside_find(const struct model *m, uint32_t pid);

// "I/O 79 %": the main thing a time was spent waiting for; "" when the CPU is all there is to say.
const char *document_wait_text(const struct document *d, const struct facts_split *split);

// What a bar shows of a split: when the run could not tell CPU from waiting, all of it is "other".
struct facts_split document_bar_split(const struct document *d, const struct facts_split *split);

// How often: "12", and "<1" where there was time but no end, as a call that the window cuts has.
const char *document_calls_text(const struct document *d, uint64_t calls, uint64_t wall_ns);

// Explains that below the last table, when it says so in a row.
void document_note_cut_calls(struct document *d);

// "97 %", the part of the time on the CPU; "" without time, "n/a" where it could not be told.
const char *document_cpu_text(const struct document *d, const struct facts_split *split);

// How much of the run passed before the first library of ours was up in a process of it: exec, the
// dynamic loader. -1: none came up.
int64_t document_before_agent_ns(const struct document *d);

// The call that the thread had not returned from when its process was killed; NULL: none is known.
const struct model_span *document_open_call(const struct model_thread *t);

// Adds `more` to *sum, part by part.
void document_split_add(struct facts_split *sum, const struct facts_split *more);

#endif
