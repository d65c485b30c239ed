// SPDX-License-Identifier: Apache-2.0
// What named ranges are: the words of stages, domains of libraries, names of functions, the user's
// rules. (Spans and names in a process that records: tests/e2e.)
#include "agent/config.h"
#include "agent/range_names.h"
#include "agent/range_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void is(const char *domain, const char *text, const char *stage)
{
    struct range_choice c = range_rules_choose(domain, text);
    assert_int_equal(c.use, RANGE_STAGE);
    assert_string_equal(c.stage, stage);
    assert_int_equal(c.is_own_name, strcmp(stage, "my step") == 0 || strcmp(stage, "decoder") == 0);
}

static void is_ignored(const char *domain, const char *text)
{
    assert_int_equal(range_rules_choose(domain, text).use, RANGE_IGNORE);
}

static void test_defaults(void **state)
{
    (void)state;
    config = (struct config){0};
    is("", "decode", "decode");
    is("", "Decode", "decode");
    is("own", "PREPROCESS batch #", "preprocess");
    is("", "inference#", "infer");
    is("", "infer_batch", "infer");
    is("", "post-process", "postprocess");
    is("", "decoder", "decoder");
    is("", "my step", "my step");
    is("PyTorch", "load", "load");
    is("tbbs", "wait", "wait");
    is_ignored("tbb", "wait");
    is_ignored("NCCL", "send");
    is_ignored("nccl", "own");
    is_ignored("oneDNN", "own");
    is_ignored("", "aten::conv2d, seq = #");
    is_ignored("", "call(int)");
    is_ignored("", "");
    is_ignored("app", "frame");
    is("OpenCVTrace", "cv::resize", "preprocess");
    is("OpenCVTrace", "cv::imread", "decode");
    is_ignored("OpenCVTrace", "cv::hal::resize");
}

static void test_rules_come_first(void **state)
{
    (void)state;
    config = (struct config){.ranges = {{"own:step*", "infer"}, {"aten::*", "draw"},
                                 {"decode", "ignore"}, {"frame", "item"}, {"*", "late"}},
        .range_count = 5};
    is("own", "step one", "infer");
    is("other", "step one", "late");
    is("", "aten::add", "draw");
    is_ignored("any", "decode");
    assert_int_equal(range_rules_choose("app", "frame").use, RANGE_ITEM);
    is("NCCL", "send", "late");
}

static void shortened(const char *text, const char *wanted)
{
    char copy[RANGE_TEXT_BYTES + 1];
    strncpy(copy, text, sizeof copy - 1);
    copy[sizeof copy - 1] = 0;
    range_rules_shorten(copy);
    assert_string_equal(copy, wanted);
}

static void test_signatures_are_shortened(void **state)
{
    (void)state;
    shortened("void cv::resize(InputArray, int)", "cv::resize");
    shortened("cv::Mat cv::imread(const String&, int)", "cv::imread");
    shortened("cv::f()", "cv::f");
    shortened("load (again)", "load (again)");
    shortened("(a::b)", "(a::b)");
    shortened("a::b (c)", "a::b (c)");
    shortened("", "");
}

static void test_wide_texts(void **state)
{
    (void)state;
    char out[RANGE_TEXT_BYTES + 1];
    range_text_narrow(L"a\u00e9\u4e2d\U0001f600", out);
    assert_string_equal(out, "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80");
    range_text_narrow((const wchar_t[]){0xd800, 0x110000, 'x', 0}, out);
    assert_string_equal(out, "??x");
    range_text_narrow(NULL, out);
    assert_string_equal(out, "");
    wchar_t long_one[400];
    for (int i = 0; i < 399; i++)
        long_one[i] = 0x4e2d;
    long_one[399] = 0;
    range_text_narrow(long_one, out);
    assert_int_equal(strlen(out), 198);
}

static void test_handles_are_checked(void **state)
{
    (void)state;
    int other = 0;
    assert_null(range_name_check(NULL));
    assert_null(range_name_check(&other));
    const struct range_name *nothing = range_name(0, "not recording");
    assert_int_equal(nothing->use, RANGE_IGNORE);
    assert_ptr_equal(range_name_check(nothing), nothing);
    assert_null(range_name_check((const char *)nothing + 1));
    assert_int_equal(range_domain(NULL), 0);
    assert_int_equal(range_domain(""), 0);
    assert_int_equal(range_domain("a"), 1);
    assert_int_equal(range_domain("b"), 2);
    assert_int_equal(range_domain_wide(L"a"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_rules_come_first),
        cmocka_unit_test(test_signatures_are_shortened),
        cmocka_unit_test(test_wide_texts),
        cmocka_unit_test(test_handles_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
