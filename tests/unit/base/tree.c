// SPDX-License-Identifier: Apache-2.0
// Writes the made-up files, see tree.h. Fails the running test when that is not possible.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tree.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char tree_root[64];

int tree_set_up(void **state)
{
    (void)state;
    strcpy(tree_root, "/tmp/lightmeter-tree-XXXXXX");
    return mkdtemp(tree_root) ? 0 : -1;
}

int tree_tear_down(void **state)
{
    (void)state;
    return file_remove_tree(tree_root, NULL);
}

void tree_put(const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s", tree_root, path);
    for (char *slash = strchr(whole + strlen(tree_root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *f = fopen(whole, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}
