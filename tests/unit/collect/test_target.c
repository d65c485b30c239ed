// SPDX-License-Identifier: Apache-2.0
// Judging programs: real ones of the system, and made-up headers in a folder of the test.
#include "collect/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/file.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/lightmeter-test-XXXXXX";

static const char *make(const char *name, const void *bytes, size_t length_bytes, unsigned mode)
{
    static char path[128];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(file_write(path, bytes, length_bytes, &e), 0);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static const char *make_text(const char *name, const char *text)
{
    return make(name, text, strlen(text), 0755);
}

// The smallest ELF image with these program headers.
static const char *make_elf(
    const char *name, unsigned char class, unsigned machine, const char *loader)
{
    struct {
        Elf64_Ehdr head;
        Elf64_Phdr phdr;
        char loader[64];
    } image = {.head = {.e_type = ET_DYN,
                   .e_machine = (Elf64_Half)machine,
                   .e_phoff = sizeof image.head,
                   .e_phentsize = sizeof image.phdr,
                   .e_phnum = 1},
        .phdr = {.p_type = loader ? PT_INTERP : PT_LOAD,
            .p_offset = offsetof(__typeof__(image), loader),
            .p_filesz = loader ? strlen(loader) + 1 : 0}};
    memcpy(image.head.e_ident, ELFMAG, SELFMAG);
    image.head.e_ident[EI_CLASS] = class;
    image.head.e_ident[EI_DATA] = ELFDATA2LSB;
    snprintf(image.loader, sizeof image.loader, "%s", loader ? loader : "");
    return make(name, &image, sizeof image, 0755);
}

static unsigned own_machine(void)
{
    struct buf self = {0};
    assert_int_equal(file_read("/proc/self/exe", 64u << 20, &self, NULL), 0);
    unsigned machine = ((const Elf64_Ehdr *)(const void *)self.at)->e_machine;
    buf_fini(&self);
    return machine;
}

static void a_dynamic_program_is_fine(void **state)
{
    (void)state;
    struct target t;
    target_judge("sh", &t);
    assert_int_equal(t.verdict, TARGET_DYNAMIC);
    assert_string_equal(t.why, "");
    assert_non_null(strstr(t.path, "/sh"));
    assert_string_equal(t.asan, "");
}

static void a_static_program_is_told(void **state)
{
    (void)state;
    struct target t;
    target_judge(make_elf("static", ELFCLASS64, own_machine(), NULL), &t);
    assert_int_equal(t.verdict, TARGET_STATIC);
    assert_non_null(strstr(t.why, "static"));
}

static void foreign_programs_are_told(void **state)
{
    (void)state;
    struct target t;
    target_judge(make_elf("other", ELFCLASS64, EM_S390, "/lib/ld64.so.1"), &t);
    assert_int_equal(t.verdict, TARGET_FOREIGN);
    target_judge(make_elf("small", ELFCLASS32, own_machine(), "/lib/ld-linux.so.2"), &t);
    assert_int_equal(t.verdict, TARGET_FOREIGN);
    assert_non_null(strstr(t.why, "word size"));
    target_judge(make_elf("musl", ELFCLASS64, own_machine(), "/lib/ld-musl-x86_64.so.1"), &t);
    assert_int_equal(t.verdict, TARGET_FOREIGN);
    assert_non_null(strstr(t.why, "ld-musl"));
}

static void a_script_is_judged_by_its_interpreter(void **state)
{
    (void)state;
    struct target t;
    char text[160], path[128];
    target_judge(make_text("script", "#! /bin/sh -e\nexit 0\n"), &t);
    assert_int_equal(t.verdict, TARGET_DYNAMIC);
    assert_string_equal(t.judged, "/bin/sh");
    snprintf(path, sizeof path, "%s", make_elf("runner", ELFCLASS64, own_machine(), NULL));
    snprintf(text, sizeof text, "#!%s\n", path);
    target_judge(make_text("static_script", text), &t);
    assert_int_equal(t.verdict, TARGET_STATIC);
    assert_string_equal(t.judged, path);
    target_judge(make_text("env_script", "#!/usr/bin/env -S A=1 sh -x\n"), &t);
    assert_int_equal(t.verdict, TARGET_DYNAMIC);
    assert_non_null(strstr(t.judged, "/sh"));
    target_judge(make_text("plain", "exit 0\n"), &t);
    assert_string_equal(t.judged, "/bin/sh");
    assert_int_equal(t.verdict, TARGET_DYNAMIC);
    // A script that names itself ends the search.
    snprintf(text, sizeof text, "#!%s/loop\n", folder);
    target_judge(make_text("loop", text), &t);
    assert_int_equal(t.verdict, TARGET_UNKNOWN);
}

static void what_cannot_be_read_is_unknown(void **state)
{
    (void)state;
    struct target t;
    target_judge("no-such-program-anywhere", &t);
    assert_int_equal(t.verdict, TARGET_UNKNOWN);
    assert_string_equal(t.path, "");
    target_judge(make("locked", "x", 1, 0644), &t);
    assert_string_equal(t.path, "");
    target_judge(make("stump", ELFMAG, SELFMAG, 0755), &t); // shorter than a header
    assert_int_equal(t.verdict, TARGET_DYNAMIC);            // execvp hands it to the shell
    assert_string_equal(t.judged, "/bin/sh");
    target_judge("", &t);
    assert_string_equal(t.path, "");
}

static void privilege_counts_where_it_is_gained(void **state)
{
    (void)state;
    struct target t;
    struct buf program = {0};
    assert_int_equal(file_read("/bin/sh", 64u << 20, &program, NULL), 0);
    const char *path = make("shell", program.at, program.length_bytes, 0755);
    buf_fini(&program);
    assert_int_equal(chmod(path, 04755), 0);
    target_judge(path, &t); // setuid to ourselves gains nothing
    assert_int_equal(t.verdict, TARGET_DYNAMIC);
    if (getuid() != 0)
        return;
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_int_equal(chmod(path, 04755), 0);
    target_judge(path, &t);
    assert_int_equal(t.verdict, TARGET_PRIVILEGED);
    assert_non_null(strstr(t.why, "setuid"));
    assert_int_equal(chmod(path, 02755), 0);
    target_judge(path, &t);
    assert_non_null(strstr(t.why, "setgid"));
}

static void the_path_is_searched_in_order(void **state)
{
    (void)state;
    char out[TARGET_PATH_BYTES], path[256], wanted[256];
    char *old = strdup(getenv("PATH"));
    make("tool", "x", 1, 0755);
    make("hidden", "x", 1, 0644);
    snprintf(path, sizeof path, "/nonexistent:%s:/bin", folder);
    setenv("PATH", path, 1);
    assert_int_equal(target_path_search("tool", out, sizeof out), 0);
    snprintf(wanted, sizeof wanted, "%s/tool", folder);
    assert_string_equal(out, wanted);
    assert_int_equal(target_path_search("hidden", out, sizeof out), -1);
    assert_int_equal(target_path_search("sh", out, sizeof out), 0);
    assert_string_equal(out, "/bin/sh");
    assert_int_equal(target_path_search(folder, out, sizeof out), -1); // a directory
    setenv("PATH", old, 1);
    free(old);
}

static int begin(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return file_remove_tree(folder, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dynamic_program_is_fine),
        cmocka_unit_test(a_static_program_is_told),
        cmocka_unit_test(foreign_programs_are_told),
        cmocka_unit_test(a_script_is_judged_by_its_interpreter),
        cmocka_unit_test(what_cannot_be_read_is_unknown),
        cmocka_unit_test(privilege_counts_where_it_is_gained),
        cmocka_unit_test(the_path_is_searched_in_order),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
