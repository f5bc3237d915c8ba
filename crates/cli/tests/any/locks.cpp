// locks.cpp - locks of C++, which call the C library from functions of the program.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::mutex mutex;
static std::shared_mutex shared;
static std::condition_variable changed;
static bool waits, turn;

namespace app {
template <typename Key> struct Cache {
    __attribute__((noinline)) static void take_mutex(Key) { std::lock_guard<std::mutex> guard(mutex); }
};
} // namespace app

extern "C" __attribute__((noinline)) void read_shared() { std::shared_lock<std::shared_mutex> guard(shared); }
extern "C" __attribute__((noinline)) void write_shared() { std::unique_lock<std::shared_mutex> guard(shared); }

extern "C" __attribute__((noinline)) void wait_for_turn() {
    std::unique_lock<std::mutex> guard(mutex);
    waits = true;
    changed.notify_all();
    while (!turn) {
        changed.wait(guard);
    }
}

extern "C" __attribute__((noinline)) void wait_for_time() {
    std::unique_lock<std::mutex> guard(mutex);
    auto limit = std::chrono::steady_clock::now();
    changed.wait_until(guard, limit);
    changed.wait_until(guard, std::chrono::system_clock::now());
}

int main() {
    for (int i = 0; i < 10; i++) {
        app::Cache<int>::take_mutex(i);
    }
    for (int i = 0; i < 5; i++) {
        read_shared();
    }
    for (int i = 0; i < 3; i++) {
        write_shared();
    }
    wait_for_time();
    std::thread thread(wait_for_turn);
    {
        std::unique_lock<std::mutex> guard(mutex);
        // The thread has the mutex from here until it waits.
        changed.wait(guard, [] { return waits; });
        turn = true;
    }
    changed.notify_all();
    thread.join();
    std::puts("done");
}
