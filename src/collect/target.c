// SPDX-License-Identifier: Apache-2.0
// Reads the first bytes of a program (shebang or ELF header), its program headers and its dynamic
// section to tell whether LD_PRELOAD reaches it. Lengths in the file are distrusted: everything is
// read with pread into fixed buffers. Called once per launch. Threads: no shared state.
#include "collect/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPT_LINE_BYTES 256 // the kernel reads no more of a shebang line
#define SCRIPT_DEPTH 4        // interpreters that are scripts themselves
#define PHDR_LIMIT 64
#define DYN_LIMIT 4096

struct image {
    int fd;
    Elf64_Ehdr head;
    Elf64_Phdr phdr[PHDR_LIMIT];
    unsigned phdr_count;
    char loader[256]; // PT_INTERP, "" when static
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int can_execute(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int target_path_search(const char *name, char *out, unsigned long out_bytes)
{
    if (!*name)
        return -1;
    if (strchr(name, '/')) {
        snprintf(out, out_bytes, "%s", name);
        return can_execute(name) ? 0 : -1;
    }
    const char *at = getenv("PATH");
    if (!at)
        at = "/bin:/usr/bin";
    for (;;) {
        size_t length = strcspn(at, ":");
        int n = length ? snprintf(out, out_bytes, "%.*s/%s", (int)length, at, name)
                       : snprintf(out, out_bytes, "./%s", name);
        if (n > 0 && (unsigned long)n < out_bytes && can_execute(out))
            return 0;
        if (!at[length])
            break;
        at += length + 1;
    }
    *out = 0;
    return -1;
}

static int image_open(struct image *m, const char *path)
{
    *m = (struct image){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (m->fd < 0)
        return -1;
    ssize_t n = pread(m->fd, &m->head, sizeof m->head, 0);
    if (n < EI_NIDENT || memcmp(m->head.e_ident, ELFMAG, SELFMAG) != 0)
        return -1;
    if (n < (ssize_t)sizeof m->head || m->head.e_ident[EI_CLASS] != ELFCLASS64)
        return 0; // a 32-bit file: the header alone tells
    unsigned count = m->head.e_phnum < PHDR_LIMIT ? m->head.e_phnum : PHDR_LIMIT;
    if (m->head.e_phentsize != sizeof m->phdr[0])
        return 0;
    n = pread(m->fd, m->phdr, count * sizeof m->phdr[0], (off_t)m->head.e_phoff);
    m->phdr_count = n > 0 ? (unsigned)((size_t)n / sizeof m->phdr[0]) : 0;
    for (unsigned i = 0; i < m->phdr_count; i++) {
        const Elf64_Phdr *p = &m->phdr[i];
        if (p->p_type != PT_INTERP)
            continue;
        size_t length = p->p_filesz < sizeof m->loader ? (size_t)p->p_filesz : sizeof m->loader - 1;
        n = pread(m->fd, m->loader, length, (off_t)p->p_offset);
        m->loader[n > 0 ? n : 0] = 0;
    }
    return 0;
}

static void image_close(struct image *m)
{
    if (m->fd >= 0)
        close(m->fd);
    m->fd = -1;
}

// File offset of an address of the image, or -1.
static off_t offset_of(const struct image *m, uint64_t address)
{
    for (unsigned i = 0; i < m->phdr_count; i++) {
        const Elf64_Phdr *p = &m->phdr[i];
        if (p->p_type == PT_LOAD && address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz)
            return (off_t)(p->p_offset + (address - p->p_vaddr));
    }
    return -1;
}

// Copies the soname of a sanitizer runtime among the needed libraries to out ("" when none).
static void find_asan(const struct image *m, char *out, size_t out_bytes)
{
    const Elf64_Phdr *dynamic = NULL;
    for (unsigned i = 0; i < m->phdr_count; i++)
        if (m->phdr[i].p_type == PT_DYNAMIC)
            dynamic = &m->phdr[i];
    if (!dynamic)
        return;
    size_t count = dynamic->p_filesz / sizeof(Elf64_Dyn);
    if (count > DYN_LIMIT)
        count = DYN_LIMIT;
    Elf64_Dyn *dyn = calloc(count + 1, sizeof *dyn);
    if (!dyn)
        return;
    ssize_t got = pread(m->fd, dyn, count * sizeof *dyn, (off_t)dynamic->p_offset);
    count = got > 0 ? (size_t)got / sizeof *dyn : 0;
    off_t strings = -1;
    for (size_t i = 0; i < count && dyn[i].d_tag != DT_NULL; i++)
        if (dyn[i].d_tag == DT_STRTAB)
            strings = offset_of(m, dyn[i].d_un.d_ptr);
    for (size_t i = 0; strings >= 0 && i < count && dyn[i].d_tag != DT_NULL; i++) {
        char name[256] = "";
        if (dyn[i].d_tag != DT_NEEDED ||
            pread(m->fd, name, sizeof name - 1, strings + (off_t)dyn[i].d_un.d_val) <= 0)
            continue;
        if (strncmp(name, "libasan.so", 10) == 0 || strncmp(name, "libclang_rt.asan", 16) == 0)
            snprintf(out, out_bytes, "%s", name);
    }
    free(dyn);
}

// Whether the kernel will run `path` in secure mode for us: it changes a user or group id, or gives
// capabilities to an ordinary user, on a file system and in a process where that is honoured.
static int is_privileged(const char *path, const char **kind)
{
    struct stat st;
    struct statvfs fs;
    if (stat(path, &st) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return 0;
    if (statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOSUID))
        return 0;
    *kind = "setuid";
    if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
        return 1;
    *kind = "setgid";
    if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getgid())
        return 1;
    *kind = "marked with file capabilities";
    return getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

static void judge_image(const struct image *m, const struct image *own, struct target *out)
{
    const char *kind = "";
    if (m->head.e_ident[EI_CLASS] != own->head.e_ident[EI_CLASS] ||
        m->head.e_ident[EI_DATA] != own->head.e_ident[EI_DATA] ||
        m->head.e_machine != own->head.e_machine) {
        out->verdict = TARGET_FOREIGN;
        snprintf(out->why, sizeof out->why,
            "%.500s is built for another processor or word size than this Lightmeter", out->judged);
    } else if (!m->loader[0] && strcmp(base_of(out->judged), base_of(own->loader)) == 0) {
        out->verdict = TARGET_DYNAMIC; // the loader itself, told to run a program
    } else if (!m->loader[0]) {
        out->verdict = TARGET_STATIC;
        snprintf(out->why, sizeof out->why,
            "%.500s is statically linked: it has no dynamic loader, so nothing can be preloaded",
            out->judged);
    } else if (is_privileged(out->judged, &kind)) {
        out->verdict = TARGET_PRIVILEGED;
        snprintf(out->why, sizeof out->why,
            "%.500s is %s: the dynamic loader ignores preloaded libraries in such a program",
            out->judged, kind);
    } else if (strcmp(base_of(m->loader), base_of(own->loader)) != 0) {
        out->verdict = TARGET_FOREIGN;
        snprintf(out->why, sizeof out->why,
            "%.400s uses the loader %.200s, this Lightmeter is built for %.100s", out->judged,
            m->loader, base_of(own->loader));
    } else {
        out->verdict = TARGET_DYNAMIC;
        find_asan(m, out->asan, sizeof out->asan);
    }
}

// `#!interpreter argument`: 1 with the interpreter; that of `env` is the program it looks up.
static int script_interpreter(const char *path, char *out, size_t out_bytes)
{
    char line[SCRIPT_LINE_BYTES + 1] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? pread(fd, line, SCRIPT_LINE_BYTES, 0) : -1;
    if (fd >= 0)
        close(fd);
    if (n < 2 || line[0] != '#' || line[1] != '!')
        return 0;
    line[strcspn(line, "\r\n")] = 0;
    char *rest = NULL;
    char *word = strtok_r(line + 2, " \t", &rest);
    if (!word)
        return 0;
    snprintf(out, out_bytes, "%s", word);
    if (strcmp(base_of(word), "env") != 0)
        return 1;
    while ((word = strtok_r(NULL, " \t", &rest)) != NULL)
        if (*word != '-' && !strchr(word, '=')) {
            char found[TARGET_PATH_BYTES];
            if (target_path_search(word, found, sizeof found) == 0)
                snprintf(out, out_bytes, "%s", found);
            break;
        }
    return 1;
}

void target_judge(const char *command, struct target *out)
{
    *out = (struct target){.verdict = TARGET_UNKNOWN};
    if (target_path_search(command, out->path, sizeof out->path) < 0) {
        out->path[0] = 0;
        return;
    }
    memcpy(out->judged, out->path, sizeof out->judged);
    int is_script = 0;
    for (int i = 0; i < SCRIPT_DEPTH; i++) {
        char next[TARGET_PATH_BYTES];
        if (!script_interpreter(out->judged, next, sizeof next))
            break;
        is_script = 1;
        memcpy(out->judged, next, sizeof out->judged);
    }
    struct image target, own;
    int target_is_elf = image_open(&target, out->judged) == 0;
    int own_is_elf = image_open(&own, "/proc/self/exe") == 0;
    if (!target_is_elf && target.fd >= 0 && !is_script) {
        // Neither ELF nor a shebang: execvp hands the file to the shell.
        image_close(&target);
        snprintf(out->judged, sizeof out->judged, "/bin/sh");
        target_is_elf = image_open(&target, out->judged) == 0;
    }
    if (target_is_elf && own_is_elf)
        judge_image(&target, &own, out);
    image_close(&target);
    image_close(&own);
}
