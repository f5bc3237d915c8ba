/*
 * guards.cpp - what tare.hpp's locks and guards return and leave behind, stopped and running.
 */
#include <cstdio>
#include <cstdlib>
#include <shared_mutex>
#include <thread>

#include <tare.hpp>

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using std::chrono::system_clock;

static void check(bool is_so, const char *what, int line) {
    if (!is_so) {
        std::fprintf(stderr, "guards.cpp:%d: not so: %s\n", line, what);
        std::exit(1);
    }
}
#define CHECK(what) check(what, #what, __LINE__)

static void lock() {
    tare::mutex mutex;
    CHECK(mutex.try_lock());
    std::thread([&] {
        CHECK(!mutex.try_lock());
        CHECK(!mutex.try_lock_for(1ms));
        CHECK(!mutex.try_lock_until(steady_clock::now() - 1h));
        CHECK(!mutex.try_lock_until(system_clock::now() + 1ms));
        CHECK(!mutex.try_lock_until(system_clock::time_point{} - 1ns));
    }).join();
    mutex.unlock();
    std::unique_lock timed{mutex, std::defer_lock};
    CHECK(timed.try_lock_for(1h));

    tare::shared_mutex shared;
    std::shared_lock first{shared}, second{shared, std::try_to_lock};
    CHECK(second.owns_lock() && !shared.try_lock());
    first.unlock();
    second.unlock();
    const std::scoped_lock writer{shared};
    CHECK(!shared.try_lock_shared());
}

static void wait() {
    tare::mutex mutex;
    tare::condition_variable changed;
    bool is_ready = false;
    std::unique_lock lock{mutex};
    CHECK(changed.wait_for(lock, 1ms) == std::cv_status::timeout);
    CHECK(changed.wait_until(lock, steady_clock::now() - 1s) == std::cv_status::timeout);
    CHECK(!changed.wait_for(lock, 1ms, [&] { return is_ready; }));
    CHECK(lock.owns_lock());
    std::thread other([&] {
        const std::lock_guard guard{mutex};
        is_ready = true;
        changed.notify_one();
    });
    CHECK(changed.wait_until(lock, system_clock::now() + 1h, [&] { return is_ready; }));
    other.join();
    changed.wait(lock, [&] { return is_ready; });
}

/* A program may keep its std::mutex. */
static void keep() {
    std::mutex mutex;
    CHECK(tare_pthread_mutex_lock(mutex.native_handle(), nullptr) == 0);
    {
        const std::lock_guard lock{mutex, std::adopt_lock};
        std::thread([&] { CHECK(!mutex.try_lock()); }).join();
    }
    CHECK(mutex.try_lock());
    mutex.unlock();
}

/* A lock that is not held cannot be waited with. */
static void fail() {
    tare::mutex mutex;
    tare::condition_variable changed;
    std::unique_lock lock{mutex, std::defer_lock};
    try {
        changed.wait(lock);
        CHECK(false);
    } catch (const std::system_error &error) {
        CHECK(error.code() == std::errc::operation_not_permitted);
    }
}

static void record(bool is_running) {
    const tare::instrument cls{TARE_KIND_STATEMENT, "statement/guards/x"};
    const tare::instrument again{TARE_KIND_STATEMENT, "statement/guards/x"};
    CHECK(cls == static_cast<tare_class *>(again));
    const tare::instrument wrong{TARE_KIND_STATEMENT, "stage/guards/x"};
    CHECK(wrong == nullptr);
    const tare::instrument session_class{TARE_KIND_THREAD, "thread/guards/session"};
    tare::statement statement{cls};
    CHECK(statement.is_recorded() == is_running);
    tare::statement nothing{wrong};
    CHECK(!nothing.is_recorded());
    tare::session session{session_class};
    const tare::session::work work{session};
    /* The one that has entered it is not left by the one that could not. */
    { const tare::session::work busy{session}; }
    std::thread([&] {
        tare::session::work other{session};
        tare::session own{session_class};
    }).join();
    const tare::socket socket{tare::instrument{TARE_KIND_SOCKET, "wait/io/socket/guards/x"}, 0};
    tare::wait receiving{socket, TARE_OP_RECV};
    receiving.bytes(5);
    const tare::wait idle{tare::instrument{TARE_KIND_IDLE, "idle"}, TARE_OP_IDLE};
}

int main() {
    CHECK(!tare_is_running());
    for (int round = 0; round < 2; round++) {
        lock();
        wait();
        keep();
        fail();
        record(false);
        const tare::recording recording;
        CHECK(bool(recording));
        /* A second one neither starts nor stops it. */
        { CHECK(!tare::recording{}); }
        CHECK(tare_is_running());
        lock();
        wait();
        keep();
        fail();
        record(true);
    }
    CHECK(!tare_is_running());
    std::puts("done");
}
