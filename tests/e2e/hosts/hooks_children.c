// SPDX-License-Identifier: Apache-2.0
// Host of the hook set children: waits for a child in each of the ways there are, asks after one
// that still runs, and for one that is not there, and lets the shell start some; prints what it was
// told.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Ends after a while, so that its parent waits.
static pid_t start(int status)
{
    pid_t child = fork();
    if (child == 0) {
        struct timespec t = {0, 20000000};
        nanosleep(&t, NULL);
        _exit(status);
    }
    return child;
}

static void tell(const char *how, int is_right, int status)
{
    printf("%s %s %d\n", how, is_right ? "right" : "wrong", WEXITSTATUS(status));
}

int main(void)
{
    int status = 0;
    struct rusage usage;
    siginfo_t info = {0};
    pid_t child = start(1);
    tell("wait", wait(&status) == child, status);
    child = start(2);
    tell("waitpid", waitpid(child, &status, 0) == child, status);
    child = start(3);
    tell("wait3", wait3(&status, 0, &usage) == child, status);
    child = start(4);
    tell("wait4", wait4(child, &status, 0, &usage) == child, status);
    child = start(5);
    int failed = waitid(P_PID, (id_t)child, &info, WEXITED);
    printf("waitid %d %d %d\n", failed, info.si_pid == child, info.si_status);

    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    tell("running", waitpid(child, &status, WNOHANG) == 0, 0);
    kill(child, SIGKILL);
    tell("killed", waitpid(child, &status, 0) == child && WIFSIGNALED(status), 0);
    char line[32] = "";
    FILE *stream = popen("echo said; exit 7", "r");
    tell("popen", stream && fgets(line, sizeof line, stream) && line[0] == 's', 0);
    status = pclose(stream);
    tell("pclose", WIFEXITED(status), status);
    status = system("exec sleep 0.02");
    tell("system", WIFEXITED(status), status);
    status = system("exit 6");
    tell("system, at once", WIFEXITED(status), status);
    tell("system, is there a shell", system(NULL) != 0, 0);
    errno = 0;
    tell("popen, odd mode", !popen("true", "odd") && errno == EINVAL, 0);
    errno = 0;
    tell("none", wait(&status) == -1 && errno == ECHILD, 0);
    return 0;
}
