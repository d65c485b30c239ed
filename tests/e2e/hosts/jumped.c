// SPDX-License-Identifier: Apache-2.0
// Sleeps, leaves the sleep by a jump out of a signal handler, says so, and then only computes: what
// it waited in is over, though the call never returned. Run by test_killed.py. Threads: one.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static sigjmp_buf place;

static void leave(int number)
{
    (void)number;
    siglongjmp(place, 1);
}

int main(void)
{
    const struct timespec long_time = {.tv_sec = 600};
    signal(SIGALRM, leave);
    if (!sigsetjmp(place, 1)) {
        ualarm(100000, 0);
        nanosleep(&long_time, NULL);
    }
    signal(SIGALRM, SIG_DFL);
    alarm(60); // should nobody kill it
    char line[32];
    const int length = snprintf(line, sizeof line, "%d\n", (int)getpid());
    if (write(1, line, (size_t)length) != length)
        return 1;
    for (;;)
        continue;
}
