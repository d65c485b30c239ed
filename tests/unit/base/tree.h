// SPDX-License-Identifier: Apache-2.0
// A folder with made-up /proc and /sys files, as the `root` of base/os.h. Used by the os_* tests:
// tree_set_up and tree_tear_down go around each test. One tree at a time.
#ifndef LIGHTMETER_TESTS_UNIT_BASE_TREE_H
#define LIGHTMETER_TESTS_UNIT_BASE_TREE_H

extern char tree_root[64];

int tree_set_up(void **state);
int tree_tear_down(void **state);

// Writes tree_root + path, with the folders above it.
void tree_put(const char *path, const char *text);

#endif
