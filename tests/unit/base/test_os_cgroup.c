// SPDX-License-Identifier: Apache-2.0
// Tests of the control groups of base/os.h: version 1, 2, both, containers, odd mounts, absence.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/os.h"

#include "tree.h"

#include <stdio.h>
#include <string.h>

static const char v2_mount[] =
    "23 1 0:20 / /proc rw - proc proc rw\n"
    "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
static const char v1_mounts[] =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

static struct os_cgroup read_group(void)
{
    struct os_cgroup group;
    os_cgroup_read(tree_root, &group);
    return group;
}

static void assert_path(const struct os_cgroup *group, const char *expected)
{
    assert_memory_equal(group->path, tree_root, strlen(tree_root));
    assert_string_equal(group->path + strlen(tree_root), expected);
}

static void smallest_quota_of_version_2_counts(void **state)
{
    (void)state;
    tree_put("/proc/self/cgroup", "0::/user.slice/app.slice/job.scope\n");
    tree_put("/proc/self/mountinfo", v2_mount);
    tree_put("/sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n");
    tree_put("/sys/fs/cgroup/user.slice/cpu.stat",
        "usage_usec 9\nnr_periods 100\nnr_throttled 7\nthrottled_usec 1234\nnr_bursts 0\n");
    tree_put("/sys/fs/cgroup/user.slice/memory.max", "max\n");
    tree_put("/sys/fs/cgroup/user.slice/app.slice/cpu.max", "max 100000\n");
    tree_put("/sys/fs/cgroup/user.slice/app.slice/memory.max", "2147483648\n");
    tree_put("/sys/fs/cgroup/user.slice/app.slice/job.scope/cpu.max", "400000 100000\n");
    tree_put("/sys/fs/cgroup/user.slice/app.slice/job.scope/memory.max", "4294967296\n");
    struct os_cgroup group = read_group();
    assert_int_equal(group.is_found, 1);
    assert_int_equal(group.version, 2);
    assert_int_equal(group.has_quota, 1);
    assert_true(group.quota_cores == 1.5);
    assert_path(&group, "/sys/fs/cgroup/user.slice");
    assert_int_equal(group.has_throttling, 1);
    assert_int_equal(group.periods, 100);
    assert_int_equal(group.throttled, 7);
    assert_int_equal(group.throttled_ns, 1234000);
    assert_true(group.memory_limit_bytes == 2147483648u);
}

static void innermost_of_equal_quotas_counts(void **state)
{
    (void)state;
    tree_put("/proc/self/cgroup", "0::/a/b\n");
    tree_put("/proc/self/mountinfo", v2_mount);
    tree_put("/sys/fs/cgroup/a/cpu.max", "100000 50000\n");
    tree_put("/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n");
    struct os_cgroup group = read_group();
    assert_true(group.quota_cores == 2);
    assert_path(&group, "/sys/fs/cgroup/a/b");
    assert_int_equal(group.has_throttling, 0);
}

static void reads_version_1_beside_version_2(void **state)
{
    (void)state;
    tree_put("/proc/self/cgroup",
        "4:memory:/job\n3:cpuset:/elsewhere\n2:cpu,cpuacct:/job/inner\n1:name=systemd:/\n0::/x\n");
    tree_put("/proc/self/mountinfo", v1_mounts);
    tree_put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
    tree_put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    tree_put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.stat",
        "nr_periods 10\nnr_throttled 3\nthrottled_time 987654321\n");
    tree_put("/sys/fs/cgroup/cpu,cpuacct/job/inner/cpu.cfs_quota_us", "-1\n");
    tree_put("/sys/fs/cgroup/cpu,cpuacct/job/inner/cpu.cfs_period_us", "100000\n");
    tree_put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824\n");
    tree_put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    struct os_cgroup group = read_group();
    assert_int_equal(group.version, 1);
    assert_true(group.has_quota && group.quota_cores == 0.5);
    assert_path(&group, "/sys/fs/cgroup/cpu,cpuacct/job");
    assert_int_equal(group.periods, 10);
    assert_int_equal(group.throttled, 3);
    assert_int_equal(group.throttled_ns, 987654321);
    assert_int_equal(group.memory_limit_bytes, 1073741824);
    tree_put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(read_group().memory_limit_bytes, 0);
}

static void without_quota_the_own_level_is_read(void **state)
{
    (void)state;
    tree_put("/proc/self/cgroup", "2:cpu:/job\n");
    tree_put("/proc/self/mountinfo",
        "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
        "33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n");
    tree_put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
    tree_put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    tree_put("/sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
    struct os_cgroup group = read_group();
    assert_int_equal(group.is_found, 1);
    assert_int_equal(group.has_quota, 0);
    assert_int_equal(group.has_throttling, 1);
    assert_path(&group, "/sys/fs/cgroup/cpu/job");
    assert_int_equal(group.memory_limit_bytes, 0);
}

// In a container the mount shows a part of the tree, and the group's path may be the outer one.
static void containers_see_their_own_root(void **state)
{
    (void)state;
    static const struct {
        const char *group, *mounted, *expected;
    } cases[] = {{"/docker/abc", "/docker/abc", ""}, {"/docker/abc/in", "/docker/abc", "/in"},
        {"/", "/docker/abc", ""}, {"/docker/abcd", "/docker/abc", ""}, {"/../../other", "/", ""},
        {"/in", "/", ""}, {"/", "/", ""}};
    tree_put("/sys/fs/cgroup/cpu.max", "300000 100000\n");
    tree_put("/sys/other/cpu.max", "100000 100000\n"); // outside the mount
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256], expected[64];
        snprintf(text, sizeof text, "0::%s\n", cases[i].group);
        tree_put("/proc/self/cgroup", text);
        snprintf(text, sizeof text, "31 23 0:28 %s /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
            cases[i].mounted);
        tree_put("/proc/self/mountinfo", text);
        tree_put("/sys/fs/cgroup/in/cpu.max", i == 1 ? "100000 100000\n" : "max 100000\n");
        struct os_cgroup group = read_group();
        assert_true(group.has_quota && group.quota_cores == (i == 1 ? 1 : 3));
        snprintf(expected, sizeof expected, "/sys/fs/cgroup%s", cases[i].expected);
        assert_path(&group, expected);
    }
}

static void mount_points_are_unescaped(void **state)
{
    (void)state;
    tree_put("/proc/self/cgroup", "0::/g\n");
    tree_put("/proc/self/mountinfo", "31 23 0:28 / /a\\040b\\134c rw - cgroup2 none rw\n");
    tree_put("/a b\\c/g/cpu.max", "100000 100000\n");
    struct os_cgroup group = read_group();
    assert_true(group.quota_cores == 1);
    assert_path(&group, "/a b\\c/g");
}

static void says_when_there_is_nothing(void **state)
{
    (void)state;
    struct os_cgroup group = read_group();
    assert_int_equal(group.is_found + group.has_quota + group.has_throttling, 0);
    assert_string_equal(group.path, "");
    tree_put("/proc/self/cgroup", "2:memory:/x\n");
    tree_put("/proc/self/mountinfo", v1_mounts);
    assert_int_equal(read_group().is_found, 0);
}

static void survives_malformed_files(void **state)
{
    (void)state;
    static const char *const groups[] = {
        "", ":", "::", "0:", "0::", "\n\n0::\n", "0:cpu\n", "0::/\n", "x\n0::/g"};
    static const char *const mounts[] = {"", "-", " - ", "1 2 3 4 5\n", "1 2 3 / /m rw - cgroup2\n",
        "1 2 3 / /m\\0 rw - cgroup2 a b\n", "\n - cgroup2 a b\n"};
    static const char *const limits[] = {
        "", "max", "1", "-1 5", "1 0", "x y", "99999999999999999999 1"};
    tree_put("/sys/fs/cgroup/cpu.stat",
        "nr_periods x\nnr_throttled\nthrottled_usec 18446744073709551616\n");
    for (size_t i = 0; i < 9 * 7; i++) {
        tree_put("/proc/self/cgroup", groups[i % 9]);
        tree_put("/proc/self/mountinfo", mounts[i / 9]);
        struct os_cgroup group = read_group();
        assert_int_equal(group.has_quota, 0);
    }
    tree_put("/proc/self/cgroup", "0::/\n");
    tree_put("/proc/self/mountinfo", v2_mount);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        tree_put("/sys/fs/cgroup/cpu.max", limits[i]);
        struct os_cgroup group = read_group();
        assert_int_equal(group.is_found, 1);
        assert_int_equal(group.has_quota, 0);
        assert_int_equal(group.has_throttling, 0);
    }
}

int main(void)
{
#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_set_up, tree_tear_down)
    const struct CMUnitTest tests[] = {
        IN_TREE(smallest_quota_of_version_2_counts),
        IN_TREE(innermost_of_equal_quotas_counts),
        IN_TREE(reads_version_1_beside_version_2),
        IN_TREE(without_quota_the_own_level_is_read),
        IN_TREE(containers_see_their_own_root),
        IN_TREE(mount_points_are_unescaped),
        IN_TREE(says_when_there_is_nothing),
        IN_TREE(survives_malformed_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
