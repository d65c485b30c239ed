// SPDX-License-Identifier: Apache-2.0
// Judges a command before it is launched: which file the name means, what will really run (a script
// is run by its interpreter), and whether the preloaded library can get into it. Called by the
// launcher and `doctor`. Reads files only; starts nothing. Threads: no shared state.
#ifndef LIGHTMETER_COLLECT_ELF_H
#define LIGHTMETER_COLLECT_ELF_H

#define ELF_PATH_BYTES 4096

enum elf_verdict {
    ELF_DYNAMIC = 0, // the library can be preloaded
    ELF_UNKNOWN,     // not judged (missing or unreadable): the launch will tell
    ELF_STATIC,      // no dynamic loader: nothing can be preloaded
    ELF_PRIVILEGED,  // setuid, setgid or file capabilities: the loader ignores LD_PRELOAD
    ELF_FOREIGN,     // another architecture, word size or C library than ours
};

struct elf_target {
    char path[ELF_PATH_BYTES];   // the file that the command name means; "" when there is none
    char judged[ELF_PATH_BYTES]; // the program that runs: `path`, or the interpreter of a script
    enum elf_verdict verdict;    // of `judged`
    char why[768];               // one sentence when the library cannot be loaded, else ""
    char asan[256];              // soname of the address-sanitizer runtime it needs, else ""
};

// Judges `command` (searched on PATH as execvp does). Always fills *out.
void elf_target_judge(const char *command, struct elf_target *out);

// Finds `name` as execvp would: 0 with the path, or -1 when no such file can be executed.
int elf_path_search(const char *name, char *out, unsigned long out_bytes);

#endif
