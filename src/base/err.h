// SPDX-License-Identifier: Apache-2.0
// An error message that its detector writes once and every caller passes on unchanged.
// Used by every module except the agent's hot paths. Holds its own storage, allocates nothing.
// Threads: a struct err belongs to one thread.
#ifndef LIGHTMETER_BASE_ERR_H
#define LIGHTMETER_BASE_ERR_H

struct err {
    char text[512]; // "" while nothing went wrong; cut with "..." when too long
};

// Writes the message (printf format) and returns -1, so that detectors can `return err_set(...)`.
// `e` may be NULL: the message is dropped. A message says what happened, where, and what to do
// next.
int err_set(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Like err_set, and appends ": " and the text of `errnum` (an errno value).
int err_set_errno(struct err *e, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The message, never NULL; "" when none was written.
const char *err_text(const struct err *e);

#endif
