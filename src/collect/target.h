// SPDX-License-Identifier: Apache-2.0
// Judges a command before it is launched: which file the name means, what will really run (a script
// is run by its interpreter), and whether the preloaded library can get into it. Called by the
// launcher and `doctor`. Reads files only; starts nothing. Threads: no shared state.
#ifndef LIGHTMETER_COLLECT_TARGET_H
#define LIGHTMETER_COLLECT_TARGET_H

#define TARGET_PATH_BYTES 4096

enum target_verdict {
    TARGET_DYNAMIC = 0, // the library can be preloaded
    TARGET_UNKNOWN,     // not judged (missing or unreadable): the launch will tell
    TARGET_STATIC,      // no dynamic loader: nothing can be preloaded
    TARGET_PRIVILEGED,  // setuid, setgid or file capabilities: the loader ignores LD_PRELOAD
    TARGET_FOREIGN,     // another architecture, word size or C library than ours
};

struct target {
    char path[TARGET_PATH_BYTES];   // the file that the command name means; "" when there is none
    char judged[TARGET_PATH_BYTES]; // the program that runs: `path`, or the interpreter of a script
    enum target_verdict verdict;    // of `judged`
    char why[768];                  // one sentence when the library cannot be loaded, else ""
    char asan[256];                 // soname of the address-sanitizer runtime it needs, else ""
};

// Judges `command` (searched on PATH as execvp does). Always fills *out.
void target_judge(const char *command, struct target *out);

// Finds `name` as execvp would: 0 with the path, or -1 when no such file can be executed.
int target_path_search(const char *name, char *out, unsigned long out_bytes);

#endif
