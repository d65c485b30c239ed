// SPDX-License-Identifier: Apache-2.0
// A C++ library with NVTX inside itself, loaded late by hooks_nvtx: scoped ranges, an exception
// through them, threads.
#include "nvtx_client.h"

#include <stdexcept>
#include <thread>
#include <vector>

namespace
{
struct scoped {
    explicit scoped(const char *name)
    {
        nvtx_push(name);
    }
    scoped(const scoped &) = delete;
    ~scoped()
    {
        nvtx_pop();
    }
};

void fail()
{
    scoped outer("postprocess"), inner("encode");
    throw std::runtime_error("on purpose");
}

void work(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        scoped range("decode in thread");
        scoped inner("convert");
    }
}
} // namespace

extern "C" __attribute__((visibility("default"))) int run_module();
int run_module()
{
    int caught = 0;
    try {
        fail();
    } catch (const std::runtime_error &) {
        caught = 1;
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(work, 500);
    for (auto &thread : threads)
        thread.join();
    return caught;
}
