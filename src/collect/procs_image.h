// SPDX-License-Identifier: Apache-2.0
// Whether a process image that announced itself is over, told by its file alone: the number in its
// name may be that of another pid namespace, or be used again. Used by procs.c. Threads: no state.
#ifndef LIGHTMETER_COLLECT_PROCS_IMAGE_H
#define LIGHTMETER_COLLECT_PROCS_IMAGE_H

enum procs_image { PROCS_IMAGE_OVER, PROCS_IMAGE_LIVES, PROCS_IMAGE_UNKNOWN };

// Over: it said that it exits, or nobody has its file open for writing any more, as a process has
// all its life: it was killed, exited past its C library, or became another program. Unknown: it
// cannot be told on this system, now or later.
enum procs_image procs_image_look(int run_dir_fd, const char *file_name);

#endif
