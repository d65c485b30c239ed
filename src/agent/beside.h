// SPDX-License-Identifier: Apache-2.0
// Finds a function of the library that a hooked function is in, of which there may be several: what
// a hook asks must be of the same one. Used by hooks. Threads: any.
#ifndef LIGHTMETER_AGENT_BESIDE_H
#define LIGHTMETER_AGENT_BESIDE_H

#define BESIDE_PLACES 4

// What is found is cast to its own type by whoever named it.
typedef int beside_fn(const void *argument);
struct beside {
    const char *symbol;
    void *known[BESIDE_PLACES]; // functions it was looked for beside
    beside_fn *found[BESIDE_PLACES];
};

// The function `symbol` of the library that holds `original`; NULL when it has none. Looked up once
// for each library (or so, when two threads come at once), later a compare.
beside_fn *beside_find(struct beside *b, void *original);

#endif
