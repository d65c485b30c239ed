// SPDX-License-Identifier: Apache-2.0
// A pair of sketched runs for each detector: one that it must find, and one that looks alike and
// must stay quiet. Found by name, so that a detector without its pair fails the registry test.
#ifndef LIGHTMETER_TESTS_ANALYZE_FIXTURES_H
#define LIGHTMETER_TESTS_ANALYZE_FIXTURES_H

#include "model/model.h"

struct fixture_pair {
    const char *name;
    struct model *(*fires_fn)(void);
    struct model *(*quiet_fn)(void);
};

// Ended by a NULL name.
extern const struct fixture_pair fixture_pairs[];

#endif
