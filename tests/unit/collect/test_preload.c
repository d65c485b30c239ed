// SPDX-License-Identifier: Apache-2.0
// The name for LD_PRELOAD: through the loader's token where the folder of links is that of the
// library and our own loader finds it there, else the path as it is.
#include "collect/preload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];     // of one test: a name once found stays found in this process
static const char *library; // a real one of this word size

// The path of `name` in the test's folder; two are kept.
static const char *in_folder(const char *name)
{
    static char paths[2][256];
    static int turn;
    turn = !turn;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
    return paths[turn];
}

static void make_folder(const char *name)
{
    assert_int_equal(mkdir(in_folder(name), 0755), 0);
}

static void make_link(const char *place, const char *leads_to)
{
    char path[256];
    snprintf(path, sizeof path, "%s/preload/%s" PRELOAD_FILE, folder, place);
    unlink(path);
    assert_int_equal(symlink(leads_to, path), 0);
}

static void is_named(int is_token)
{
    struct buf name = {0};
    char wanted[300];
    snprintf(wanted, sizeof wanted, "%s%s/" PRELOAD_FILE, folder, is_token ? "/preload/$LIB" : "");
    assert_int_equal(preload_name(in_folder(PRELOAD_FILE), &name), is_token);
    assert_string_equal(buf_text(&name), wanted);
    buf_fini(&name);
}

static int set_up(void **state)
{
    (void)state;
    static const char *const folders[] = {"preload", "preload/lib64", "preload/lib",
        "preload/lib/x86_64-linux-gnu", "preload/lib/aarch64-linux-gnu", "preload/lib32"};
    Dl_info info = {0};
    snprintf(folder, sizeof folder, "/tmp/lightmeter-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_not_equal(dladdr((void *)(uintptr_t)&dlsym, &info), 0);
    library = info.dli_fname;
    assert_int_equal(symlink(library, in_folder(PRELOAD_FILE)), 0);
    is_named(0); // no folder of links at all
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        make_folder(folders[i]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return file_remove_tree(folder, NULL);
}

static void link_all(const char *leads_to)
{
    static const char *const places[] = {
        "lib64/", "lib/", "lib/x86_64-linux-gnu/", "lib/aarch64-linux-gnu/"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        make_link(places[i], leads_to);
}

static void the_token_is_used_where_it_leads_to_the_library(void **state)
{
    (void)state;
    make_link("", library);
    is_named(0); // our loader finds nothing
    link_all(library);
    is_named(1);
}

static void a_file_that_cannot_be_loaded_is_no_library(void **state)
{
    (void)state;
    make_link("", library);
    link_all("/proc/version");
    is_named(0);
    link_all("/nonexistent");
    is_named(0);
}

static void the_links_of_another_library_do_not_count(void **state)
{
    (void)state;
    link_all(library);
    make_link("", "/proc/version");
    is_named(0);
    make_link("", library);
    is_named(1);
}

static void a_blank_library_is_found(void **state)
{
    (void)state;
    struct buf path = {0};
    assert_int_equal(preload_blank_find(in_folder(PRELOAD_FILE), &path), 0);
    assert_string_equal(buf_text(&path), "");
    make_link("lib32/", library);
    assert_int_equal(preload_blank_find(in_folder(PRELOAD_FILE), &path), 1);
    assert_string_equal(buf_text(&path), in_folder("preload/lib32/" PRELOAD_FILE));
    buf_fini(&path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            the_token_is_used_where_it_leads_to_the_library, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_file_that_cannot_be_loaded_is_no_library, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            the_links_of_another_library_do_not_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_blank_library_is_found, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
