/*
 * jobs.cpp - a job server, instrumented by Tare: threads take clients' jobs from a queue, and write what they
 * did to a journal.
 *
 *   c++ -std=c++17 jobs.cpp -o jobs $(pkg-config --cflags --libs tare) -pthread
 *   jobs [-w] [JOURNAL]
 *
 * At the end it prints how often everything happened: compare with what Tare counted. With -w it then waits
 * for the end of its input, so that `tare sql` can look at it.
 */
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <tare.hpp>

namespace {

constexpr int WORKERS = 4, CLIENTS = 2, JOBS_OF_CLIENT = 1000;

const tare::instrument LOCK_queue{TARE_KIND_MUTEX, "wait/synch/mutex/jobs/LOCK_queue"},
    LOCK_results{TARE_KIND_RW_LOCK, "wait/synch/rwlock/jobs/LOCK_results"},
    COND_queue{TARE_KIND_COND, "wait/synch/cond/jobs/COND_queue"},
    file_journal{TARE_KIND_FILE, "wait/io/file/jobs/journal"},
    stage_working{TARE_KIND_STAGE, "stage/jobs/Working"},
    stage_writing{TARE_KIND_STAGE, "stage/jobs/Writing the journal"},
    transaction_job{TARE_KIND_TRANSACTION, "transaction"},
    statement_submit{TARE_KIND_STATEMENT, "statement/jobs/submit"},
    statement_job{TARE_KIND_STATEMENT, "statement/abstract/job", TARE_MUTABLE},
    thread_worker{TARE_KIND_THREAD, "thread/jobs/worker"},
    thread_client{TARE_KIND_THREAD, "thread/jobs/client", TARE_USER};

struct job {
    std::string command, argument;
};

/* What happened, counted by the program itself. */
struct counts {
    unsigned long queue_locks = 0, queue_waits = 0, result_locks = 0, jobs = 0, failed = 0;
};

class server {
  public:
    explicit server(const char *path)
        : journal_(file_journal, path), descriptor_(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600)) {}
    ~server() { close(descriptor_); }

    void add(job next) {
        {
            const std::lock_guard lock{queue_lock_};
            queue_.push_back(std::move(next));
            counts_.queue_locks++;
        }
        queue_changed_.notify_one();
    }

    /* No job comes any more. */
    void close_queue() {
        {
            const std::lock_guard lock{queue_lock_};
            is_closed_ = true;
            counts_.queue_locks++;
        }
        queue_changed_.notify_all();
    }

    void work() {
        tare_thread_register(thread_worker);
        counts counts;
        std::unique_lock lock{queue_lock_};
        counts.queue_locks++;
        while (!queue_.empty() || !is_closed_) {
            if (queue_.empty()) {
                queue_changed_.wait(lock);
                counts.queue_waits++;
                counts.queue_locks++; /* Taking the mutex again counts, too. */
                continue;
            }
            const job next = std::move(queue_.front());
            queue_.pop_front();
            lock.unlock();
            run(next, counts);
            lock.lock();
            counts.queue_locks++;
        }
        counts_.queue_locks += counts.queue_locks;
        counts_.queue_waits += counts.queue_waits;
        counts_.result_locks += counts.result_locks;
        counts_.jobs += counts.jobs;
        counts_.failed += counts.failed;
    }

    /* After all threads have ended. */
    void print() const {
        std::printf("expect wait/synch/mutex/jobs/LOCK_queue %lu\n", counts_.queue_locks);
        std::printf("expect wait/synch/cond/jobs/COND_queue %lu\n", counts_.queue_waits);
        std::printf("expect wait/synch/rwlock/jobs/LOCK_results %lu\n", counts_.result_locks);
        std::printf("expect wait/io/file/jobs/journal %lu\n", counts_.jobs - counts_.failed);
        std::printf("expect stage/jobs/Working %lu\n", counts_.jobs);
        std::printf("expect stage/jobs/Writing the journal %lu\n", counts_.jobs - counts_.failed);
        std::printf("expect statement/jobs/resize %lu\n", counts_.jobs / 2);
        std::printf("expect statement/jobs/mail %lu\n", counts_.jobs / 2);
        std::printf("expect statement/jobs/submit %d\n", CLIENTS);
        std::printf("expect transaction %lu\n", counts_.jobs);
        std::printf("expect error/1054 %lu\n", counts_.failed);
    }

  private:
    void run(const job &job, counts &counts) {
        tare::statement statement{statement_job};
        statement.shape((job.command + " ?").c_str(), job.command + " " + job.argument);
        /* The same name gives the same class. */
        statement.refine(tare::instrument{TARE_KIND_STATEMENT, ("statement/jobs/" + job.command).c_str()});
        tare::transaction transaction{transaction_job};
        counts.jobs++;
        {
            const tare::stage stage{stage_working};
            if (job.argument.empty()) {
                statement.error(1054, "42S22", "A job without an argument");
                counts.failed++;
                return; /* The transaction is rolled back. */
            }
            {
                const std::shared_lock lock{results_lock_};
                statement.add(TARE_ROWS_EXAMINED, results_.count(job.command));
            }
            const std::lock_guard lock{results_lock_};
            results_[job.command] += job.argument.size();
            counts.result_locks += 2;
        }
        const tare::stage stage{stage_writing};
        const std::string line = job.command + " " + job.argument + "\n";
        tare::wait writing{journal_, TARE_OP_WRITE};
        const ssize_t written = write(descriptor_, line.data(), line.size());
        if (written >= 0)
            writing.bytes(static_cast<uint64_t>(written));
        transaction.commit();
    }

    tare::mutex queue_lock_{LOCK_queue};
    tare::condition_variable queue_changed_{COND_queue};
    std::deque<job> queue_;
    bool is_closed_ = false;
    counts counts_;
    tare::shared_mutex results_lock_{LOCK_results};
    std::map<std::string, size_t> results_;
    tare::file journal_;
    int descriptor_;
};

} /* namespace */

int main(int argc, char **argv) {
    const bool waits = argc > 1 && std::strcmp(argv[1], "-w") == 0;
    const char *path = argc > 1 + waits ? argv[1 + waits] : "/dev/null";
    tare_config *config = tare_config_new();
    tare_config_instrument(config, "%", TARE_ON);
    const tare::recording recording{config};
    tare_config_free(config);
    if (!recording)
        std::fprintf(stderr, "jobs: it runs without Tare: %s\n", tare_error_message());

    server server{path};
    std::vector<std::thread> threads;
    for (int i = 0; i < WORKERS; i++)
        threads.emplace_back([&] { server.work(); });
    for (int client = 0; client < CLIENTS; client++) {
        tare::session session{thread_client};
        const tare::session::work work{session};
        tare_thread_set_account(("client" + std::to_string(client)).c_str(), "localhost");
        tare::statement submit{statement_submit};
        submit.shape("submit ?");
        for (int i = 0; i < JOBS_OF_CLIENT; i++)
            server.add({i % 2 == 0 ? "resize" : "mail", i % 100 == 7 ? "" : std::to_string(i)});
    }
    server.close_queue();
    for (std::thread &thread : threads)
        thread.join();
    server.print();
    std::puts("done");
    std::fflush(stdout);
    while (waits && std::getchar() != EOF) {
    }
}
