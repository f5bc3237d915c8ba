/*
 * tare.hpp - tare.h for C++17: locks as the standard library has them, and guards that end what they began.
 *
 *   #include <tare.hpp>
 *
 *   const tare::instrument LOCK_queue{TARE_KIND_MUTEX, "wait/synch/mutex/app/LOCK_queue"};
 *   const tare::instrument statement_get{TARE_KIND_STATEMENT, "statement/app/get"};
 *   tare::mutex queue_lock{LOCK_queue};
 *
 *   int main() {
 *       const tare::recording recording;
 *       tare::statement statement{statement_get};
 *       statement.shape("get ?", "get apples");
 *       std::lock_guard lock{queue_lock};
 *   }
 *
 * What holds for tare.h's functions holds here. An object takes a tare_class, which may be NULL. A guard
 * belongs to the thread that made it. It ends with its scope, and is neither copied nor moved.
 *
 * MIT OR Apache-2.0.
 */
#ifndef TARE_HPP
#define TARE_HPP

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <system_error>

#include <tare.h>

namespace tare {

namespace detail {

struct fixed {
    fixed() = default;
    fixed(const fixed &) = delete;
    fixed &operator=(const fixed &) = delete;
};

/* A lock that is not taken throws, as std::mutex does. */
inline void require(int status) {
    if (status != TARE_OK)
        throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                                tare_error_message());
}

template <class Clock, class Duration>
timespec deadline(const std::chrono::time_point<Clock, Duration> &moment) {
    using namespace std::chrono;
    const auto left = ceil<nanoseconds>(moment - Clock::now());
    const auto at = time_point_cast<nanoseconds>(system_clock::now()) + left;
    const auto whole = floor<seconds>(at);
    timespec result{};
    result.tv_sec = static_cast<decltype(result.tv_sec)>(whole.time_since_epoch().count());
    result.tv_nsec = static_cast<decltype(result.tv_nsec)>((at - whole).count());
    return result;
}

} /* namespace detail */

/* A class: what setup_instruments lists. The same kind and name again give the same class. */
class instrument {
  public:
    instrument(tare_kind kind, const char *name, unsigned flags = 0, const char *documentation = "")
        : class_(tare_register(kind, name, flags, documentation)) {}
    operator tare_class *() const noexcept { return class_; }

  private:
    tare_class *class_;
};

/* Records from its beginning to its end. False if Tare did not start: tare_error_message() says why. */
class recording : detail::fixed {
  public:
    explicit recording(const tare_config *config = nullptr)
        : is_started_(tare_start(config) == TARE_OK) {}
    ~recording() {
        if (is_started_)
            tare_stop();
    }
    explicit operator bool() const noexcept { return is_started_; }

  private:
    bool is_started_;
};

/* For std::lock_guard, std::unique_lock and std::scoped_lock. */
class mutex : detail::fixed {
  public:
    explicit mutex(tare_class *cls = nullptr) { tare_mutex_init(&mutex_, cls); }
    ~mutex() { tare_mutex_destroy(&mutex_); }
    void lock() { detail::require(tare_mutex_lock(&mutex_)); }
    bool try_lock() { return tare_mutex_trylock(&mutex_) == TARE_OK; }
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration> &moment) {
        const timespec deadline = detail::deadline(moment);
        return tare_mutex_timedlock(&mutex_, &deadline) == TARE_OK;
    }
    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period> &time) {
        return try_lock_until(std::chrono::steady_clock::now() + time);
    }
    void unlock() { tare_mutex_unlock(&mutex_); }
    tare_mutex *native_handle() noexcept { return &mutex_; }

  private:
    tare_mutex mutex_ = TARE_MUTEX_INITIALIZER;
};

/* For std::shared_lock, too. */
class shared_mutex : detail::fixed {
  public:
    explicit shared_mutex(tare_class *cls = nullptr) { tare_rwlock_init(&rwlock_, cls); }
    ~shared_mutex() { tare_rwlock_destroy(&rwlock_); }
    void lock() { detail::require(tare_rwlock_wrlock(&rwlock_)); }
    bool try_lock() { return tare_rwlock_trywrlock(&rwlock_) == TARE_OK; }
    void unlock() { tare_rwlock_wrunlock(&rwlock_); }
    void lock_shared() { detail::require(tare_rwlock_rdlock(&rwlock_)); }
    bool try_lock_shared() { return tare_rwlock_tryrdlock(&rwlock_) == TARE_OK; }
    void unlock_shared() { tare_rwlock_rdunlock(&rwlock_); }
    tare_rwlock *native_handle() noexcept { return &rwlock_; }

  private:
    tare_rwlock rwlock_ = TARE_RWLOCK_INITIALIZER;
};

class condition_variable : detail::fixed {
  public:
    explicit condition_variable(tare_class *cls = nullptr) { tare_cond_init(&cond_, cls); }
    ~condition_variable() { tare_cond_destroy(&cond_); }
    void notify_one() { tare_cond_signal(&cond_); }
    void notify_all() { tare_cond_broadcast(&cond_); }
    void wait(std::unique_lock<mutex> &lock) {
        detail::require(tare_cond_wait(&cond_, lock.mutex()->native_handle()));
    }
    template <class Predicate>
    void wait(std::unique_lock<mutex> &lock, Predicate is_ready) {
        while (!is_ready())
            wait(lock);
    }
    template <class Clock, class Duration>
    std::cv_status wait_until(std::unique_lock<mutex> &lock,
                              const std::chrono::time_point<Clock, Duration> &moment) {
        const timespec deadline = detail::deadline(moment);
        const int status = tare_cond_timedwait(&cond_, lock.mutex()->native_handle(), &deadline);
        if (status == TARE_TIMEOUT)
            return std::cv_status::timeout;
        detail::require(status);
        return std::cv_status::no_timeout;
    }
    template <class Clock, class Duration, class Predicate>
    bool wait_until(std::unique_lock<mutex> &lock,
                    const std::chrono::time_point<Clock, Duration> &moment, Predicate is_ready) {
        while (!is_ready())
            if (wait_until(lock, moment) == std::cv_status::timeout)
                return is_ready();
        return true;
    }
    template <class Rep, class Period>
    std::cv_status wait_for(std::unique_lock<mutex> &lock,
                            const std::chrono::duration<Rep, Period> &time) {
        return wait_until(lock, std::chrono::steady_clock::now() + time);
    }
    template <class Rep, class Period, class Predicate>
    bool wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<Rep, Period> &time,
                  Predicate is_ready) {
        return wait_until(lock, std::chrono::steady_clock::now() + time, is_ready);
    }

  private:
    tare_cond cond_ = TARE_COND_INITIALIZER;
};

/* An open file, and an open socket. */
class file : detail::fixed {
  public:
    file(tare_class *cls, const char *path) : file_(tare_file_open(cls, path)) {}
    ~file() { tare_file_close(file_); }
    operator tare_file *() const noexcept { return file_; }

  private:
    tare_file *file_;
};

class socket : detail::fixed {
  public:
    socket(tare_class *cls, int descriptor) : socket_(tare_socket_open(cls, descriptor)) {}
    ~socket() { tare_socket_close(socket_); }
    operator tare_socket *() const noexcept { return socket_; }

  private:
    tare_socket *socket_;
};

/* A wait, from its beginning to its end. */
class wait : detail::fixed {
  public:
    wait(tare_class *cls, tare_operation operation) {
        if (operation == TARE_OP_IDLE)
            tare_idle_begin(&wait_, cls);
        else
            tare_wait_begin(&wait_, cls, operation);
    }
    wait(const file &of, tare_operation operation) { tare_file_begin(&wait_, of, operation); }
    wait(const socket &of, tare_operation operation) { tare_socket_begin(&wait_, of, operation); }
    ~wait() { tare_wait_end(&wait_, bytes_); }
    void bytes(uint64_t moved) noexcept { bytes_ = moved; }

  private:
    tare_wait wait_{};
    uint64_t bytes_ = TARE_NO_BYTES;
};

/* The thread's stage. One that begins inside of it takes its place. */
class stage : detail::fixed {
  public:
    explicit stage(tare_class *cls) { tare_stage_set(cls); }
    ~stage() { tare_stage_end(); }
    void progress(uint64_t completed, uint64_t estimated) { tare_stage_progress(completed, estimated); }
};

class statement : detail::fixed {
  public:
    explicit statement(tare_class *cls) { tare_statement_begin(&statement_, cls); }
    ~statement() { tare_statement_end(&statement_); }
    bool is_recorded() const { return tare_statement_is_recorded(&statement_) != 0; }
    void refine(tare_class *cls) { tare_statement_refine(&statement_, cls); }
    void text(std::string_view sql) { tare_statement_text(&statement_, sql.data(), sql.size()); }
    void shape(const char *normalized, std::string_view text = {}) {
        tare_statement_shape(&statement_, normalized, text.data(), text.size());
    }
    void schema(const char *name) { tare_statement_schema(&statement_, name); }
    void set(tare_counter counter, uint64_t value) { tare_statement_set(&statement_, counter, value); }
    void add(tare_counter counter, uint64_t n) { tare_statement_add(&statement_, counter, n); }
    void error(uint32_t number, const char *sqlstate, const char *message) {
        tare_statement_error(&statement_, number, sqlstate, message);
    }
    tare_statement *native_handle() noexcept { return &statement_; }

  private:
    tare_statement statement_{};
};

/* Is rolled back unless it was committed. */
class transaction : detail::fixed {
  public:
    explicit transaction(tare_class *cls, tare_isolation isolation = TARE_REPEATABLE_READ,
                         unsigned flags = 0) {
        tare_transaction_begin(&transaction_, cls, isolation, flags);
    }
    ~transaction() { tare_transaction_rollback(&transaction_); }
    void commit() { tare_transaction_commit(&transaction_); }
    tare_transaction *native_handle() noexcept { return &transaction_; }

  private:
    tare_transaction transaction_{};
};

/* A client's session, and a thread's work for it. */
class session : detail::fixed {
  public:
    explicit session(tare_class *cls) : session_(tare_session_new(cls)) {}
    ~session() { tare_session_free(session_); }

    class work : fixed {
      public:
        explicit work(session &of)
            : session_(tare_session_enter(of.session_) == TARE_OK ? of.session_ : nullptr) {}
        ~work() { tare_session_leave(session_); }

      private:
        tare_session *session_;
    };

  private:
    tare_session *session_;
};

} /* namespace tare */

#endif /* TARE_HPP */
