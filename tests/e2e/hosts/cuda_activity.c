// SPDX-License-Identifier: Apache-2.0
// Test host: work on the stand-in for CUDA, in stages and outside. usage: cuda_activity MODE. work:
// a copy, a launch and a copy in the stage infer, a launch in none, a memset, then a wait. exit: a
// launch that nothing waits for. fork: work, and children of it that work too, or only end. child:
// only a child works. threads: two that launch in stages of their own and wait for each other's
// work. own: work, in a program that has loaded CUPTI 13 itself. idle: nothing is called. Run by
// test_hooks_cuda.py.
#include "cuda_stand_in.h"

#include "lightmeter/mark.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMES 50

static char from[4096], device[4096], to[4096], stream[1];

static void add_one(uint64_t thread, void **arguments)
{
    ((char *)arguments[0])[thread]++;
}

static int launch(char *at)
{
    void *arguments[] = {at};
    stand_in_kernel_fn *run = add_one;
    const void *kernel;
    memcpy(&kernel, &run, sizeof kernel);
    return cudaLaunchKernel(
        kernel, (struct dim3){1, 1, 1}, (struct dim3){16, 1, 1}, arguments, 77, stream);
}

static void work(void)
{
    errno = 42;
    printf("%d", cudaMemcpy(device, from, 4096, 1));
    lm_stage_begin("infer");
    printf(" %d", launch(device));
    printf(" %d", cudaMemcpyAsync(to, device, 100, 2, stream));
    lm_stage_end();
    printf(" %d", launch(device));
    printf(" %d", cudaMemset(device + 64, 7, 64));
    printf(" %d", cudaStreamSynchronize(stream));
    printf(" %d", cudaStreamSynchronize(NULL));
    printf(", errno %d, %d %d %d\n", errno, to[0], device[0], device[64]);
}

static void run_child(int works)
{
    int status = -1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (works)
            work();
        exit(7);
    }
    waitpid(child, &status, 0);
    printf("child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

static void *launch_many(void *stage)
{
    char own[16] = {0};
    int failed = 0;
    for (int i = 0; i < TIMES; i++) {
        if (*(char *)stage == 'i')
            lm_stage_begin("infer");
        else
            lm_stage_begin("postprocess");
        failed += launch(own);
        lm_stage_end();
        failed += cudaMemcpy(own, from, 16, 1);
    }
    return failed ? stage : NULL;
}

static void run_threads(void)
{
    pthread_t one, two;
    void *failed[2];
    printf("%d ", cudaStreamSynchronize(stream)); // what comes up at the first call is up
    if (pthread_create(&one, NULL, launch_many, "infer") != 0 ||
        pthread_create(&two, NULL, launch_many, "postprocess") != 0)
        exit(1);
    pthread_join(one, &failed[0]);
    pthread_join(two, &failed[1]);
    printf("%d %d\n", failed[0] != NULL, failed[1] != NULL);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "work";
    if (strcmp(mode, "own") == 0)
        printf("%d ", dlopen("libcupti.so.13", RTLD_NOW) != NULL);
    if (strcmp(mode, "work") == 0 || strcmp(mode, "own") == 0 || strcmp(mode, "fork") == 0)
        work();
    if (strcmp(mode, "fork") == 0 || strcmp(mode, "child") == 0)
        run_child(1);
    if (strcmp(mode, "fork") == 0)
        run_child(0);
    if (strcmp(mode, "threads") == 0)
        run_threads();
    if (strcmp(mode, "exit") == 0) {
        lm_stage_begin("infer");
        printf("%d\n", launch(device));
        lm_stage_end();
    }
    return 0;
}
