// SPDX-License-Identifier: Apache-2.0
// Host of the hook sets openmp_gomp and openmp_llvm, compiled for each: teams of known sizes, loops
// of every schedule, barriers, tasks, critical parts, locks and sections. Prints what came out.
#include <lightmeter/mark.h>

#include <omp.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define COUNT 1000
#define TEAM 3

static int numbers[COUNT];

static void dawdle(void)
{
    struct timespec t = {0, 20000000};
    syscall(SYS_nanosleep, &t, NULL);
}

__attribute__((noinline)) static void jump(jmp_buf *back)
{
    longjmp(*back, 1);
}

static long sum_up(const char *what)
{
    long sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += numbers[i];
    printf("%s %ld\n", what, sum);
    return sum;
}

// The thread that opened it is done first, and last: it waits at the end, and does not.
static void open_region(void)
{
    int seen = 0;
#pragma omp parallel num_threads(TEAM)
    {
#pragma omp atomic
        seen++;
        if (omp_get_thread_num() != 0)
            dawdle();
    }
    printf("team %d\n", seen);
}

static void run_loops(void)
{
#pragma omp parallel for num_threads(TEAM)
    for (int i = 0; i < COUNT; i++)
        numbers[i] += 1;
#pragma omp parallel for num_threads(TEAM) schedule(dynamic, 10)
    for (int i = 0; i < COUNT; i++)
        numbers[i] += 2;
#pragma omp parallel for num_threads(TEAM) schedule(guided)
    for (int i = 0; i < COUNT; i++)
        numbers[i] += 3;
#pragma omp parallel for num_threads(TEAM) schedule(runtime)
    for (int i = 0; i < COUNT; i++)
        numbers[i] += 4;
#pragma omp parallel for num_threads(TEAM) schedule(monotonic : dynamic)
    for (int i = 0; i < COUNT; i++)
        numbers[i] += 5;
    int ordered = 0;
#pragma omp parallel for num_threads(TEAM) ordered schedule(static, 1)
    for (int i = 0; i < 30; i++) {
#pragma omp ordered
        ordered = ordered == i ? i + 1 : -1;
    }
    printf("ordered %d\n", ordered);
    sum_up("loops");
}

static void meet(void)
{
    int early = 0, copied = 0;
    omp_lock_t lock;
    omp_nest_lock_t nested;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nested);
#pragma omp parallel num_threads(TEAM) reduction(+ : copied)
    {
        int given = 0;
        if (omp_get_thread_num() == 1)
            dawdle();
#pragma omp atomic
        early++;
#pragma omp barrier
        if (early != TEAM)
            printf("the barrier let one through\n");
#pragma omp critical
        dawdle();
#pragma omp critical(named)
        dawdle();
        omp_set_lock(&lock);
        dawdle();
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nested);
        omp_set_nest_lock(&nested);
        omp_unset_nest_lock(&nested);
        omp_unset_nest_lock(&nested);
#pragma omp for schedule(dynamic)
        for (int i = 0; i < COUNT; i++)
            numbers[i]++;
#pragma omp single copyprivate(given)
        {
            dawdle();
            given = 7;
        }
        copied += given;
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nested);
    printf("copied %d\n", copied);
    sum_up("met");
}

static void run_tasks(void)
{
    int done = 0, first = 0, second = 0;
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    {
        for (int i = 0; i < 10; i++) {
#pragma omp task shared(done)
            {
#pragma omp atomic
                done++;
            }
        }
#pragma omp taskwait
#pragma omp taskgroup
        {
#pragma omp task shared(done)
            {
                dawdle();
#pragma omp atomic
                done++;
            }
        }
    }
#pragma omp parallel sections num_threads(TEAM)
    {
#pragma omp section
        first = 1;
#pragma omp section
        second = 2;
    }
    printf("tasks %d sections %d\n", done, first + second);
}

// Many variables that are shared, more than registers hold; and a region within a region.
static void share_many(void)
{
    int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
    double x = 0.5, y = 0.25;
    int inner = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : a, b, c, d, e, f, g, h, x, y, inner)
    {
        a += 1, b += 1, c += 1, d += 1, e += 1, f += 1, g += 1, h += 1, x += 1, y += 1;
#pragma omp parallel num_threads(2) reduction(+ : inner)
        inner++;
    }
    printf(
        "many %d %d %d %d %d %d %d %d %.2f %.2f, inner %d\n", a, b, c, d, e, f, g, h, x, y, inner);
}

// What tasks of a region reduce into is found through the region's own data.
static void reduce_tasks(void)
{
    int sum = 0;
#pragma omp parallel num_threads(TEAM) reduction(task, + : sum)
    {
        sum += 1;
#pragma omp task in_reduction(+ : sum)
        sum += 10;
    }
    printf("reduced %d\n", sum);
}

// Each of two threads opens a region of two: three of the four are threads of a team. Then each of
// the three jumps out of what it calls.
static void nest(void)
{
    int seen = 0;
    omp_set_max_active_levels(2);
    lm_stage_begin("nested");
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
    {
        dawdle();
#pragma omp atomic
        seen++;
    }
    lm_stage_end();
    omp_set_max_active_levels(1);
    lm_stage_begin("after");
#pragma omp parallel num_threads(TEAM)
    {
        jmp_buf back;
        if (setjmp(back) == 0)
            jump(&back);
        dawdle();
#pragma omp atomic
        seen++;
    }
    lm_stage_end();
    printf("nested %d\n", seen);
}

int main(void)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(1);
    lm_stage_begin("three");
    open_region();
    lm_stage_end();
    run_loops();
    meet();
    run_tasks();
    share_many();
    reduce_tasks();
    nest();
    omp_set_num_threads(2);
    int seen = 0;
    lm_stage_begin("two");
#pragma omp parallel
    {
        dawdle();
#pragma omp atomic
        seen++;
    }
    lm_stage_end();
    printf("set %d\n", seen);
    return 0;
}
