// SPDX-License-Identifier: Apache-2.0
// For tests of verdicts: from a sketched run to its verdict, and what one should be. Included by
// test_verdict.c and test_waits.c. Threads: one owner.
#ifndef LIGHTMETER_TESTS_ANALYZE_OUTCOME_H
#define LIGHTMETER_TESTS_ANALYZE_OUTCOME_H

#include "analyze/verdict.h"
#include "sketch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MS SKETCH_MS

struct outcome {
    struct model *m;
    struct facts *f;
    struct verdict *v;
};

static struct outcome reach(struct sketch *s)
{
    struct outcome o = {.m = sketch_finish(s)};
    o.f = facts_new(o.m, NULL);
    o.v = verdict_reach(o.f);
    return o;
}

static void done(struct outcome *o)
{
    verdict_free(&o->v);
    facts_free(&o->f);
    model_free(&o->m);
}

static void expect(struct outcome *o, const char *class_name, const char *stage, enum confidence c)
{
    if (strcmp(o->v->class_name, class_name) != 0 || o->v->confidence != c)
        fail_msg("wanted %s (%d), got %s (%d): %s", class_name, (int)c, o->v->class_name,
            (int)o->v->confidence, o->v->headline);
    assert_string_equal(o->v->stage, stage);
    assert_true(o->v->evidence.count && o->v->will_not_help.count && o->v->how.count);
}

static int says(const struct verdict *v, const char *part)
{
    for (size_t i = 0; i < v->evidence.count; i++)
        if (strstr(v->evidence.at[i].text, part))
            return 1;
    for (size_t i = 0; i < v->how.count; i++)
        if (strstr(v->how.at[i], part))
            return 1;
    return 0;
}

#endif
