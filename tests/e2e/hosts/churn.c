// SPDX-License-Identifier: Apache-2.0
// Starts and ends threads or processes, one after the other, and prints what following them costs
// the launcher: its resident memory (KiB) at half and at the end, and how many files of
// processes and threads are left in the run directory once it has had time. Or a process whose
// first thread ends long before the others.
//   churn threads|exit|kill|raw|exec|leader COUNT
#include <lightmeter/mark.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILES_FEW 20
#define WAITS 600 // of 50 ms

static long launcher_kib(void)
{
    char path[64], line[256];
    long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)getppid());
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return kib;
}

// "p-" of processes, "s-" of threads.
static long files_count(void)
{
    const char *path = getenv("LIGHTMETER_RUN_DIR");
    DIR *dir = path ? opendir(path) : NULL;
    long count = 0;
    for (struct dirent *d; dir && (d = readdir(dir)) != NULL;)
        count += (d->d_name[0] == 'p' || d->d_name[0] == 's') && d->d_name[1] == '-';
    if (dir)
        closedir(dir);
    return count;
}

static void doze(void)
{
    const struct timespec time = {0, 50000000};
    nanosleep(&time, NULL);
}

static void *work(void *unused)
{
    LM_STAGE("work");
    return unused;
}

static int thread_run(void)
{
    pthread_t t;
    return pthread_create(&t, NULL, work, NULL) == 0 && pthread_join(t, NULL) == 0 ? 0 : -1;
}

static void child_end(const char *how)
{
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "raw") == 0)
        syscall(SYS_exit_group, 0);
    // What comes next knows nothing of Lightmeter: it leaves the file behind as it is.
    if (strcmp(how, "exec") == 0 && unsetenv("LD_PRELOAD") == 0)
        execl("/bin/true", "true", (char *)NULL);
    _exit(0);
}

static int child_run(const char *how)
{
    const pid_t pid = fork();
    if (pid == 0) {
        work(NULL);
        child_end(how);
    }
    return pid > 0 && waitpid(pid, NULL, 0) == pid ? 0 : -1;
}

static int churn(const char *how, long count)
{
    long first_kib = 0;
    for (long i = 0; i < count; i++) {
        if ((strcmp(how, "threads") == 0 ? thread_run() : child_run(how)) < 0)
            return 1;
        if (i == count / 2)
            first_kib = launcher_kib();
    }
    const long last_kib = launcher_kib();
    long files = files_count();
    for (int i = 0; i < WAITS && files > FILES_FEW; i++) {
        doze();
        files = files_count();
    }
    printf("%ld %ld %ld\n", first_kib, last_kib, files);
    return 0;
}

static void *work_on(void *count)
{
    for (long i = 0; i < *(long *)count; i++) {
        work(NULL);
        if (i % 20 == 0)
            doze();
    }
    exit(0);
}

static int leader(long count)
{
    static long left;
    pthread_t t;
    left = count;
    if (pthread_create(&t, NULL, work_on, &left) != 0)
        return 1;
    pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    const long count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    if (count <= 0)
        return 2;
    return strcmp(argv[1], "leader") == 0 ? leader(count) : churn(argv[1], count);
}
