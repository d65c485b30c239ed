// SPDX-License-Identifier: Apache-2.0
// C++ exceptions, and the unwinding by which threads are cancelled, through every kind of hook: an
// interposed function of libc, a function reached through a patched slot and through dlsym, a mark,
// and the start of a thread. One behaviour per name, as in harm.c.
//   harm_thrown [NAME]
#include <lightmeter/mark.h>

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <jpeglib.h>

namespace
{

struct noisy {
    const char *name;
    explicit noisy(const char *n) : name(n)
    {
    }
    ~noisy()
    {
        std::printf("left %s\n", name);
    }
};

// ---- Through a stream of libc's whose bytes come from the program.

ssize_t throw_bytes(void *, char *, size_t)
{
    throw std::runtime_error("no bytes");
}

int through_stream()
{
    for (int i = 0; i < 200; i++) {
        cookie_io_functions_t functions = {};
        functions.read = throw_bytes;
        FILE *stream = fopencookie(nullptr, "r", functions);
        char bytes[16];
        setvbuf(stream, nullptr, _IONBF, 0);
        try {
            LM_STAGE("stream");
            std::printf("read %zu\n", fread(bytes, 1, sizeof bytes, stream));
        } catch (const std::runtime_error &e) {
            if (i == 0)
                std::printf("caught %s\n", e.what());
        }
    }
    LM_STAGE("after");
    return 3;
}

// ---- Through a library's function: by a patched slot, and by a pointer from dlsym.

[[noreturn]] void throw_error(j_common_ptr)
{
    throw std::logic_error("not a JPEG");
}

using read_header_fn = int(j_decompress_ptr, boolean);

int read_nothing(read_header_fn *read_header)
{
    jpeg_decompress_struct picture = {};
    jpeg_error_mgr errors = {};
    static const unsigned char bytes[64] = {1, 2, 3};
    picture.err = jpeg_std_error(&errors);
    errors.error_exit = throw_error;
    jpeg_create_decompress(&picture);
    jpeg_mem_src(&picture, bytes, sizeof bytes);
    int caught = 0;
    try {
        noisy inner("the inner block");
        LM_STAGE("header");
        read_header(&picture, TRUE);
    } catch (const std::logic_error &e) {
        caught = std::strcmp(e.what(), "not a JPEG") == 0;
    }
    jpeg_destroy_decompress(&picture);
    return caught;
}

int through_slot()
{
    int caught = 0;
    for (int i = 0; i < 100; i++) {
        jpeg_decompress_struct picture = {};
        jpeg_error_mgr errors = {};
        picture.err = jpeg_std_error(&errors);
        errors.error_exit = throw_error;
        jpeg_create_decompress(&picture);
        try {
            LM_STAGE("scan lines");
            jpeg_read_scanlines(&picture, nullptr, 1); // not begun
        } catch (const std::logic_error &) {
            caught++;
        }
        jpeg_destroy_decompress(&picture);
    }
    std::printf("caught %d, header %d\n", caught, read_nothing(jpeg_read_header));
    return 4;
}

int through_pointer()
{
    read_header_fn *read_header = nullptr;
    void *library = dlopen("libjpeg.so.62", RTLD_NOW), *found;
    found = library ? dlsym(library, "jpeg_read_header") : nullptr;
    if (!found)
        return 77;
    std::memcpy(&read_header, &found, sizeof read_header);
    std::printf("caught %d\n", read_nothing(read_header));
    return 5;
}

// ---- Through marks.

int deeper(int depth)
{
    LM_STAGE("deeper");
    if (depth == 0)
        throw depth;
    return deeper(depth - 1) + 1;
}

int through_marks()
{
    int caught = 0;
    for (int i = 0; i < 1000; i++) {
        try {
            LM_STAGE("around");
            caught -= deeper(i % 90); // deeper than what is kept of open stages
        } catch (int) {
            caught++;
        }
    }
    std::printf("caught %d\n", caught);
    return 6;
}

// ---- Cancelled in calls that wait, and a thread that leaves itself.

int ends[2];
sem_t none;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;

void wait_in_read()
{
    char byte;
    if (read(ends[0], &byte, 1) < 0)
        std::abort();
}

void wait_in_sleep()
{
    timespec length = {1000, 0};
    nanosleep(&length, nullptr);
}

void wait_in_poll()
{
    poll(nullptr, 0, -1);
}

void wait_in_semaphore()
{
    sem_wait(&none);
}

void unlock(void *)
{
    pthread_mutex_unlock(&lock);
}

void wait_in_condition()
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, nullptr);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(1);
}

void leave_itself()
{
    pthread_exit(nullptr);
}

struct task {
    const char *name;
    void (*wait)();
};

void *run_task(void *argument)
{
    const task *t = static_cast<const task *>(argument);
    noisy outer(t->name);
    LM_STAGE("cancelled");
    noisy inner("its stage");
    t->wait();
    return nullptr;
}

int cancelled()
{
    static task tasks[] = {{"read", wait_in_read}, {"sleep", wait_in_sleep}, {"poll", wait_in_poll},
        {"semaphore", wait_in_semaphore}, {"condition", wait_in_condition}, {"exit", leave_itself}};
    if (pipe(ends) != 0 || sem_init(&none, 0, 0) != 0)
        return 1;
    for (task &t : tasks) {
        pthread_t thread;
        void *result = nullptr;
        timespec moment = {0, 20000000};
        pthread_create(&thread, nullptr, run_task, &t);
        nanosleep(&moment, nullptr);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        std::printf("%s: cancelled %d\n", t.name, result == PTHREAD_CANCELED);
    }
    return 7;
}

// ---- Nobody catches it.

void *throw_out(void *)
{
    LM_STAGE("uncaught");
    throw 1;
}

int uncaught()
{
    pthread_t thread;
    std::set_terminate([] { _exit(21); });
    pthread_create(&thread, nullptr, throw_out, nullptr);
    pthread_join(thread, nullptr);
    return 1;
}

struct behaviour {
    const char *name;
    int (*run)();
};

const behaviour behaviours[] = {{"stream", through_stream}, {"slot", through_slot},
    {"pointer", through_pointer}, {"marks", through_marks}, {"cancelled", cancelled},
    {"uncaught", uncaught}};

} // namespace

int main(int argc, char **argv)
{
    for (const behaviour &b : behaviours) {
        if (argc < 2)
            std::printf("%s\n", b.name);
        else if (std::strcmp(argv[1], b.name) == 0)
            return b.run();
    }
    return argc < 2 ? 0 : 2;
}
