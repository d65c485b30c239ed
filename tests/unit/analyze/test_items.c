// SPDX-License-Identifier: Apache-2.0
// Where items are counted, by each rule: inference times batch, marks with batches, the stage that
// was asked for, ends of pictures; what a run with fewer than two gets; files that were opened.
#include "account.h"

#include <math.h>

static void test_items_by_inference_times_batch(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    sketch_call(&s, "OrtApi::CreateSession", "infer", 30 * MS);
    for (int i = 0; i < 5; i++) {
        one_photo(&s, 4 * MS);
        sketch_begin(&s, "OrtApi::Run", "infer");
        sketch_batch(&s, 4);
        sketch_cpu(&s, 10 * MS);
        sketch_end(&s);
    }
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->counted_by, FACTS_BY_INFERENCE);
    assert_int_equal(f->items, 20);
    assert_int_equal(f->steady_ns, 64 * MS);
    assert_true(fabs(f->throughput_per_s - 16 / 0.064) < 1e-6);
    assert_int_equal(f->setup_ns, 30 * MS);
    assert_string_equal(f->setup_name, "OrtApi::CreateSession");
    check_sums(f);
    done(f, m);
}

static void test_items_by_marks_with_batches_and_latency(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (uint64_t i = 0; i < 4; i++) {
        sketch_item(&s, TRACE_ITEM_BEGIN, i, 0);
        sketch_cpu(&s, 5 * MS);
        sketch_item(&s, TRACE_ITEM_END, i, 0);
    }
    for (uint64_t i = 10; i < 13; i++)
        sketch_item(&s, TRACE_ITEM_JOIN, i, 99);
    sketch_cpu(&s, 5 * MS);
    sketch_item(&s, TRACE_ITEM_END, 10, 0); // by itself: the batch counts the two others
    sketch_item(&s, TRACE_ITEM_END, 99, 0);
    one_photo(&s, 4 * MS); // not counted: marks go first
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->counted_by, FACTS_BY_MARKS);
    assert_int_equal(f->items, 4 + 1 + 2);
    assert_false(f->latency_is_gap);
    assert_int_equal(f->item_latency.n, 4);
    assert_int_equal(f->item_latency.max_ns, 5 * MS);
    check_sums(f);
    done(f, m);
}

// A file counts as in memory where all pages are that were looked at.
static void test_files_in_memory(void **state)
{
    static const uint32_t in_memory[] = {64, 63, 0, 64};
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    sketch_call(&s, "cv::imread", "decode", 10 * MS);
    for (size_t i = 0; i < sizeof in_memory / sizeof *in_memory; i++) {
        sketch_call(&s, "open", "load", MS);
        struct model_thread *t = &s.m->threads.at[0];
        *vec_push(&t->values) = (struct model_value){
            .key = TRACE_ATTR_RESIDENT, .value = in_memory[i] | (uint64_t)64 << 32, .aux = 4096};
        vec_push(&t->attrs)->values = (uint32_t)t->values.count;
        t->spans.at[t->spans.count - 1].attrs = (uint32_t)t->attrs.count - 1;
    }
    sketch_call(&s, "open", "load", MS);
    sketch_call(&s, "cv::imread", "decode", 10 * MS);
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->files.looked_at, 4);
    assert_int_equal(f->files.in_memory, 2);
    done(f, m);
}

static void call_with_elapsed(struct sketch *s, const char *name, uint64_t elapsed_ns)
{
    sketch_call(s, name, "decode", MS);
    if (!elapsed_ns)
        return;
    struct model_thread *t = &s->m->threads.at[0];
    *vec_push(&t->values) = (struct model_value){.key = TRACE_ATTR_ELAPSED, .value = elapsed_ns};
    vec_push(&t->attrs)->values = (uint32_t)t->values.count;
    t->spans.at[t->spans.count - 1].attrs = (uint32_t)t->attrs.count - 1;
}

// Calls that end a picture of many are one where they say how long it took; other pieces are none.
static void test_items_by_the_ends_of_pictures(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 4; i++) {
        call_with_elapsed(&s, "WebPIAppend", 0);
        call_with_elapsed(&s, "WebPIAppend", 7 * MS);
        call_with_elapsed(&s, "png_read_image", 0);
        call_with_elapsed(&s, "png_read_end", 0);
    }
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->counted_by, FACTS_BY_DECODES);
    assert_int_equal(f->items, 8);
    assert_true(facts_stage_find(f, "decode")->is_of_images);
    done(f, m);
}

// Of libtiff's calls those that end a directory whose rows were read are one, and whole rasters.
static void test_items_of_parts(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 4; i++) {
        call_with_elapsed(&s, "TIFFOpen", 0);
        call_with_elapsed(&s, "TIFFReadScanline", 0);
        call_with_elapsed(&s, "TIFFReadEncodedStrip", 0);
        call_with_elapsed(&s, "TIFFReadDirectory", 9 * MS);
        call_with_elapsed(&s, "TIFFRGBAImageBegin", 0);
        call_with_elapsed(&s, "TIFFRGBAImageGet", 0);
        call_with_elapsed(&s, "TIFFClose", 0);
        call_with_elapsed(&s, "spng_get_ihdr", 0);
        call_with_elapsed(&s, "spng_decode_image (progressive)", 0);
        call_with_elapsed(&s, "spng_decode_row", 0);
        call_with_elapsed(&s, "spng_decode_row", 9 * MS);
        call_with_elapsed(&s, "spng_decode_image", 0);
    }
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->counted_by, FACTS_BY_DECODES);
    assert_int_equal(f->items, 16);
    assert_true(facts_stage_find(f, "decode")->is_of_images);
    done(f, m);
}

// Where no end was seen, what begins a picture counts; files that are written begin none.
static void test_items_by_the_starts_of_pictures(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 4; i++) {
        call_with_elapsed(&s, "TIFFClientOpen", 0);
        sketch_call(&s, "TIFFOpen", "encode", MS);
        call_with_elapsed(&s, "TIFFReadRawStrip", 0);
        call_with_elapsed(&s, "TIFFReadRawStrip", 0);
        call_with_elapsed(&s, "TIFFClose", 0);
        call_with_elapsed(&s, "spng_decode_image (progressive)", 0);
        call_with_elapsed(&s, "spng_decode_row", 0);
    }
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->items, 8);
    assert_false(facts_stage_find(f, "decode")->is_of_images);
    done(f, m);
}

static void test_items_at_the_stage_that_was_asked_for(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (uint64_t i = 0; i < 6; i++) {
        sketch_begin(&s, "page", NULL);
        sketch_call(&s, "page", NULL, MS); // within itself: not an item of its own
        one_photo(&s, 2 * MS);
        sketch_end(&s);
        sketch_item(&s, TRACE_ITEM_END, i, 0);
        sketch_item(&s, TRACE_ITEM_END, i + 100, 0);
    }
    struct facts *f = facts_of(&s, &m, "page");
    assert_int_equal(f->counted_by, FACTS_BY_ITEM_STAGE);
    assert_int_equal(f->items, 6);
    assert_string_equal(f->item_stage, "page");
    assert_int_equal(facts_stage_find(f, "page")->calls, 5);
    done(f, m);
}

// 20 times 500 calls of `folded`, which take 5 ms and are summed up, and before them one of
// `single`, which takes 10 ms, where there is such.
static struct facts *facts_of_folds(struct model **m, const char *item_stage, const char *stage,
    const char *single, const char *folded)
{
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 20; i++) {
        if (single)
            sketch_call(&s, single, stage, 10 * MS);
        *vec_push(&s.m->threads.at[0].spans) = (struct model_span){.start_ns = s.now_ns,
            .dur_ns = 5 * MS,
            .self_ns = 5 * MS,
            .name = model_name_id(s.m, folded, stage, TRACE_CAUSE_OTHER),
            .calls = 500,
            .split = MODEL_NONE,
            .attrs = MODEL_NONE,
            .parent = MODEL_NONE,
            .is_fold = 1};
        sketch_cpu(&s, 5 * MS);
    }
    return facts_of(&s, m, item_stage);
}

static void check_folds(const char *item_stage, const char *stage, const char *single,
    const char *folded, uint64_t items, uint64_t folded_calls, int are_items)
{
    struct model *m;
    struct facts *f = facts_of_folds(&m, item_stage, stage, single, folded);
    assert_int_equal(f->counted_by, FACTS_BY_ITEM_STAGE);
    assert_int_equal(f->items, items);
    assert_int_equal(f->item_folded_calls, folded_calls);
    assert_int_equal(f->folded_are_items, are_items);
    // When a folded call was done is not known, and so no time between items.
    assert_int_equal(f->item_latency.n, are_items ? 0 : 19);
    assert_int_equal(f->item_latency.max_ns, are_items ? 0 : 15 * MS);
    assert_true(are_items ? f->gap_spread_ratio < 0 : f->gap_spread_ratio == 0);
    done(f, m);
}

static void test_items_at_a_stage_with_folded_calls(void **state)
{
    (void)state;
    static const char start[] = "jpeg_start_decompress", lines[] = "jpeg_read_scanlines";
    check_folds("resize", "resize", "plan", "row", 20, 10000, 0);
    check_folds("resize", "resize", NULL, "row", 10000, 10000, 1);
    // Whoever names a call wants every one of it.
    check_folds("row", "resize", "plan", "row", 10000, 10000, 1);
    check_folds("plan", "resize", "plan", "row", 20, 0, 0);
    // What makes an image is known better than by how it was recorded.
    check_folds("decode", "decode", start, lines, 20, 10000, 0);
    check_folds("decode", "decode", "jpeg_read_header", lines, 20, 10000, 0);
    check_folds("decode", "decode", "jpeg_read_header", "cv::imdecode", 10000, 10000, 1);
    check_folds("decode", "decode", start, "jpeg_mem_src", 20, 10000, 0);
    check_folds(lines, "decode", start, lines, 10000, 10000, 1);
    static const char frame[] = "avcodec_receive_frame",
                      none[] = "avcodec_receive_frame (no frame)";
    check_folds("decode", "decode", frame, none, 20, 10000, 0);
    check_folds("decode", "decode", frame, "avcodec_receive_frame (sound)", 20, 10000, 0);
    check_folds("decode", "decode", "avcodec_send_packet", frame, 10000, 10000, 1);
}

static void test_fewer_than_two_items_is_one_window(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    sketch_cpu(&s, 50 * MS);
    one_photo(&s, 8 * MS);
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->items, 1);
    assert_int_equal(f->startup_ns, 0);
    assert_int_equal(f->steady_ns, 60 * MS);
    assert_int_equal(f->teardown_ns, 0);
    assert_true(f->throughput_per_s == 0);
    check_sums(f);
    done(f, m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_by_inference_times_batch),
        cmocka_unit_test(test_items_by_marks_with_batches_and_latency),
        cmocka_unit_test(test_files_in_memory),
        cmocka_unit_test(test_items_by_the_ends_of_pictures),
        cmocka_unit_test(test_items_of_parts),
        cmocka_unit_test(test_items_by_the_starts_of_pictures),
        cmocka_unit_test(test_items_at_the_stage_that_was_asked_for),
        cmocka_unit_test(test_items_at_a_stage_with_folded_calls),
        cmocka_unit_test(test_fewer_than_two_items_is_one_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
