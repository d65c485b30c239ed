// SPDX-License-Identifier: Apache-2.0
// The machine's counters: fields of cpu.stat, and reading what this machine has.
#include "collect/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/os.h"

#include <string.h>

static void fields_are_whole_words(void **state)
{
    (void)state;
    uint64_t value = 1;
    const char *text = "xnr_periods 7\nnr_periods_x 8\nnr_periods 12\nlast 3";
    assert_int_equal(machine_field(text, "nr_periods", &value), 0);
    assert_int_equal(value, 12);
    assert_int_equal(machine_field(text, "last", &value), 0);
    assert_int_equal(value, 3);
    assert_int_equal(machine_field(text, "nr", &value), -1);
    assert_int_equal(value, 0);
}

static void keep(void *context, enum trace_metric metric, uint64_t value)
{
    uint64_t *values = context;
    values[metric] = value + 1;
}

static void this_machine_can_be_read(void **state)
{
    (void)state;
    struct machine m;
    uint64_t values[TRACE_METRIC_COUNT] = {0};
    machine_open(&m);
    machine_read(&m, keep, values);
    machine_close(&m);
    struct os_cgroup group;
    os_cgroup_read("", &group);
    assert_int_equal(
        values[TRACE_METRIC_CGROUP_PERIODS] > 0, group.is_found && group.has_throttling);
    assert_int_equal(
        values[TRACE_METRIC_CGROUP_THROTTLED_NS] > 0, group.is_found && group.has_throttling);
    struct os_psi psi;
    os_psi_read("", &psi);
    assert_int_equal(values[TRACE_METRIC_PSI_IO_FULL_US] > 0, psi.io.is_known && psi.io.has_full);
    assert_true(values[TRACE_METRIC_PSI_CPU_SOME_US] <= psi.cpu.some_us + 1);
    assert_true(values[TRACE_METRIC_MACHINE_BUSY_NS] > 1);
    assert_true(values[TRACE_METRIC_RUNNABLE] > 1); // at least this test runs
    assert_int_equal(values[TRACE_METRIC_PROCESS_CPU_NS], 0);
    machine_read(&m, keep, values); // closed: nothing, and no harm
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_whole_words),
        cmocka_unit_test(this_machine_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
