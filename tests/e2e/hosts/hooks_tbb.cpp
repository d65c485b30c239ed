// SPDX-License-Identifier: Apache-2.0
// Host of the hook set tbb: a loop, an arena of known size, a limit, a pipeline and a task group
// under marks, an exception through each, a mutex and a bounded queue that have to be waited for.
// Prints what came out.
#include <lightmeter/mark.h>

#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/mutex.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace
{

constexpr int count = 1000;

tbb::mutex mutex;
tbb::concurrent_bounded_queue<int> queue;

int run_loop(int thrown)
{
    std::atomic<int> done{0};
    tbb::parallel_for(0, count, [&](int i) {
        if (i == thrown)
            throw std::runtime_error("thrown in a loop");
        done++;
    });
    return done;
}

// What a stage's call to another library is: a mark with one call.
template <typename Work>
void mark(const char *name, Work work)
{
    lm_stage_begin(name);
    try {
        std::printf("%s %d\n", name, work());
    } catch (const std::exception &error) {
        std::printf("%s %s\n", name, error.what());
    }
    lm_stage_end();
}

int run_pipeline()
{
    int next = 0, sum = 0;
    tbb::parallel_pipeline(4, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order,
                                  [&](tbb::flow_control &control) {
                                      if (next == 10)
                                          control.stop();
                                      return next++;
                                  }) &
                                  tbb::make_filter<int, void>(
                                      tbb::filter_mode::serial_in_order, [&](int i) { sum += i; }));
    return sum;
}

int run_group()
{
    std::atomic<int> done{0};
    tbb::task_group group;
    for (int i = 0; i < 10; i++)
        group.run([&] { done++; });
    group.wait();
    return done;
}

// Acts when the kernel says that the thread that made it is asleep in its wait, however slow the
// machine is.
class Other
{
  public:
    template <typename Prepare, typename Act>
    Other(Prepare prepare, Act act)
        : tid(syscall(SYS_gettid)), thread([this, prepare, act] {
              prepare();
              ready = true;
              while (!calling || !is_asleep())
                  std::this_thread::yield();
              act();
          })
    {
        while (!ready)
            std::this_thread::yield();
        calling = true;
    }
    ~Other()
    {
        thread.join();
    }

  private:
    bool is_asleep() const
    {
        std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/stat");
        std::string text;
        std::getline(file, text);
        const auto at = text.rfind(')');
        return at != std::string::npos && text.substr(at, 3) == ") S";
    }

    std::atomic<bool> ready{false}, calling{false};
    long tid;
    std::thread thread;
};

void wait_for_others()
{
    {
        Other other([] { mutex.lock(); }, [] { mutex.unlock(); });
        mutex.lock();
        mutex.unlock();
    }
    int got = 0;
    {
        Other other([] {}, [] { queue.push(7); });
        queue.pop(got);
    }
    std::printf("popped %d\n", got);
}

} // namespace

int main()
{
    // However few cores there are.
    tbb::global_control enough(tbb::global_control::max_allowed_parallelism, 4);
    tbb::task_arena arena(3, 1);
    mark("loop in arena", [&] { return arena.execute([] { return run_loop(-1); }); });
    mark("thrown in arena", [&] { return arena.execute([] { return run_loop(500); }); });
    {
        tbb::global_control control(tbb::global_control::max_allowed_parallelism, 2);
        mark("limited", [&] { return arena.execute([] { return run_loop(-1); }); });
    }
    mark("loop", [] { return run_loop(-1); });
    mark("thrown", [] { return run_loop(500); });
    mark("pipeline", run_pipeline);
    mark("group", run_group);
    wait_for_others();
    return 0;
}
