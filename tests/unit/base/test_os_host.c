// SPDX-License-Identifier: Apache-2.0
// Tests of the host facts of base/os.h on made-up machines and on this one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/os.h"

#include "tree.h"

#include <sched.h>
#include <string.h>
#include <sys/utsname.h>

static struct os_host read_host(void)
{
    struct os_host host;
    os_host_read(tree_root, &host);
    return host;
}

static void assert_json(const struct os_host *host, const char *expected)
{
    struct json *object = os_host_json(host);
    struct buf out = {0};
    json_print(object, 0, &out);
    assert_string_equal(buf_text(&out), expected);
    buf_fini(&out);
    json_free(&object);
}

static void put_x86_machine(void)
{
    tree_put("/proc/cpuinfo",
        "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763 64-Core  \n"
        "flags\t\t: fpu avx2 hypervisor lahf_lm\n\nprocessor\t: 1\n");
    tree_put("/proc/meminfo", "MemTotal:       16384 kB\nMemFree:        1 kB\n");
    tree_put("/proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-2,5,7-8\n");
    tree_put("/proc/self/cgroup", "0::/job\n");
    tree_put("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    tree_put("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    tree_put("/sys/devices/system/cpu/online", "0-15\n");
    tree_put("/sys/devices/system/cpu/smt/active", "1\n");
    tree_put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n");
    tree_put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    tree_put("/sys/fs/cgroup/job/cpu.max", "250000 100000\n");
    tree_put("/sys/fs/cgroup/job/memory.max", "8388608\n");
    tree_put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
}

static void knows_an_x86_machine(void **state)
{
    (void)state;
    put_x86_machine();
    struct os_host host = read_host();
    assert_int_equal(host.cores_online, 16);
    assert_int_equal(host.cores_affinity, 6);
    assert_true(os_host_cores_allowed(&host) == 2.5);
    assert_json(&host,
        "{\"cpu\":\"AMD EPYC 7763 64-Core\",\"cores_online\":16,\"cores_affinity\":6,"
        "\"cores_allowed\":2.5,\"quota_cores\":2.5,\"memory_bytes\":16777216,"
        "\"memory_limit_bytes\":8388608,\"kernel\":\"6.1.0-18-amd64\","
        "\"is_virtual\":true,\"smt_is_active\":true,\"thp\":\"madvise\","
        "\"governor\":\"schedutil\",\"clocksource\":\"tsc\"}");
}

static void affinity_binds_when_it_is_smaller(void **state)
{
    (void)state;
    put_x86_machine();
    tree_put("/proc/self/status", "Cpus_allowed_list:\t3\n");
    struct os_host host = read_host();
    assert_true(os_host_cores_allowed(&host) == 1);
    tree_put("/sys/fs/cgroup/job/cpu.max", "max 100000\n");
    tree_put("/sys/fs/cgroup/job/memory.max", "16777217\n"); // more than there is
    host = read_host();
    assert_int_equal(host.has_quota, 0);
    assert_int_equal(host.memory_limit_bytes, 0);
}

static void knows_an_arm_machine(void **state)
{
    (void)state;
    tree_put("/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n"
                              "CPU architecture: 8\nCPU part\t: 0xd0c\n");
    struct os_host host = read_host();
    assert_string_equal(host.cpu_model, "Arm implementer 0x41, part 0xd0c");
    assert_int_equal(host.is_virtual, -1);
}

static void invents_nothing(void **state)
{
    (void)state;
    struct os_host host = read_host();
    assert_int_equal(host.has_quota, -1);
    assert_int_equal(host.is_virtual, -1);
    assert_int_equal(host.smt_is_active, -1);
    assert_true(os_host_cores_allowed(&host) == 0);
    assert_json(&host, "{}");
}

static void refuses_malformed_lists(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "x", "0-", "-1", "3-1", "0-5,3-1", "0,,1", "0 1", "0,", "+1", "0-4294967295", ""};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        tree_put("/sys/devices/system/cpu/online", lists[i]);
        assert_int_equal(read_host().cores_online, 0);
    }
    tree_put(
        "/sys/kernel/mm/transparent_hugepage/enabled", "always [a-very-long-word-that-is-odd]");
    assert_string_equal(read_host().thp, "");
}

static void guesses_containers_by_their_marks(void **state)
{
    (void)state;
    static const struct {
        const char *groups, *name;
    } cases[] = {{"0::/kubepods/besteffort/pod1/docker-1\n", "kubernetes"},
        {"0::/machine.slice/libpod-1.scope\n", "podman"}, {"4:cpu:/docker/0123\n", "docker"},
        {"0::/system.slice/docker-1.scope\n", "docker"}, {"0::/lxc/web\n", "lxc"},
        {"0::/system.slice/docker.service\n", ""}, {"0::/\n", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tree_put("/proc/self/cgroup", cases[i].groups);
        assert_string_equal(read_host().container, cases[i].name);
    }
    tree_put("/proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2\n");
    assert_string_equal(read_host().container, "wsl");
    tree_put("/.dockerenv", "");
    assert_string_equal(read_host().container, "docker");
    tree_put("/run/.containerenv", "");
    assert_string_equal(read_host().container, "podman");
}

static void agrees_with_libc_on_this_machine(void **state)
{
    (void)state;
    struct os_host host;
    struct utsname names;
    cpu_set_t set;
    os_host_read("", &host);
    assert_int_equal(uname(&names), 0);
    assert_string_equal(host.kernel, names.release);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        assert_int_equal(host.cores_affinity, CPU_COUNT(&set));
    assert_true(host.memory_bytes > 1u << 20);
    assert_true(os_host_cores_allowed(&host) > 0);
}

int main(void)
{
#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_set_up, tree_tear_down)
    const struct CMUnitTest tests[] = {
        IN_TREE(knows_an_x86_machine),
        IN_TREE(affinity_binds_when_it_is_smaller),
        IN_TREE(knows_an_arm_machine),
        IN_TREE(invents_nothing),
        IN_TREE(refuses_malformed_lists),
        IN_TREE(guesses_containers_by_their_marks),
        cmocka_unit_test(agrees_with_libc_on_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
