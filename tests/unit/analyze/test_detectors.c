// SPDX-License-Identifier: Apache-2.0
// The registry of detectors: each has a name that is its row's, unique, help, a page in
// docs/verdicts, and a pair of fixtures of which it finds the one (as the verdict, with high
// confidence where a second signal exists) and not the other.
#include "analyze/verdict.h"
#include "fixtures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const rows[] = {
#define ROW(name) #name,
#include "analyze/detectors/registry.def"
#undef ROW
};

static const struct fixture_pair *pair_of(const char *name)
{
    for (const struct fixture_pair *p = fixture_pairs; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    fail_msg("no fixtures for %s: add them to fixtures.c", name);
    return NULL;
}

static void test_registry(void **state)
{
    (void)state;
    const struct detector *const *all = detector_all();
    size_t count = 0;
    for (; all[count]; count++) {
        char page[256];
        assert_true(count < sizeof rows / sizeof *rows);
        assert_string_equal(all[count]->name, rows[count]);
        assert_true(*all[count]->help);
        assert_true(all[count]->order >= 10 && all[count]->order <= 90);
        for (size_t k = 0; k < count; k++)
            assert_string_not_equal(all[k]->name, all[count]->name);
        assert_non_null(pair_of(all[count]->name));
        snprintf(page, sizeof page, DOCS_DIR "/verdicts/%s.md", all[count]->name);
        for (char *c = page + strlen(DOCS_DIR); *c; c++)
            *c = *c == '_' ? '-' : *c;
        if (access(page, R_OK) != 0)
            fail_msg("%s is missing", page);
    }
    assert_int_equal(count, sizeof rows / sizeof *rows);
}

static int found_by(const struct verdict *v, const char *name)
{
    for (size_t i = 0; i < v->findings.count; i++)
        if (strcmp(v->findings.at[i].detector->name, name) == 0)
            return 1;
    return 0;
}

// Evidence for the second signal is there when, and only when, the signal was seen or contradicted.
static void check_signals(const struct verdict *v)
{
    for (size_t i = 0; i < v->findings.count; i++) {
        const struct finding *found = &v->findings.at[i];
        int has[3] = {0};
        for (size_t k = 0; k < found->evidence.count; k++)
            has[found->evidence.at[k].signal] = 1;
        if (!has[1] || has[2] != (found->second_signal != 0))
            fail_msg("%s: evidence for the signals: %d, %d; the second is %d", found->class_name,
                has[1], has[2], found->second_signal);
    }
}

static void check_run(struct model *m, const struct detector *d, int fires)
{
    struct facts *f = facts_new(m, NULL);
    struct verdict *v = verdict_reach(f);
    check_signals(v);
    if (found_by(v, d->name) != fires)
        fail_msg("%s %s; verdict %s: %s", d->name, fires ? "stays quiet" : "fires", v->class_name,
            v->headline);
    if (fires) {
        char name[64];
        snprintf(name, sizeof name, "%s", d->name);
        for (char *c = name; *c; c++)
            *c = *c == '_' ? '-' : *c;
        if (strcmp(v->class_name, name) != 0)
            fail_msg("%s: the verdict is %s: %s", name, v->class_name, v->headline);
        const enum confidence wanted =
            strcmp(name, "io-bandwidth") == 0 ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH;
        if (v->confidence != wanted)
            fail_msg("%s: confidence %d: %s", name, (int)v->confidence, v->headline);
        assert_true(v->evidence.count >= 2);
        assert_true(v->will_not_help.count && v->how.count && *v->headline);
    }
    verdict_free(&v);
    assert_null(v);
    facts_free(&f);
    model_free(&m);
}

static void test_each_fires_on_its_own(void **state)
{
    (void)state;
    for (const struct detector *const *d = detector_all(); *d; d++)
        check_run(pair_of((*d)->name)->fires_fn(), *d, 1);
}

static void test_each_stays_quiet(void **state)
{
    (void)state;
    for (const struct detector *const *d = detector_all(); *d; d++)
        check_run(pair_of((*d)->name)->quiet_fn(), *d, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_each_fires_on_its_own),
        cmocka_unit_test(test_each_stays_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
