// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tour: creates a million user-level threads, all of them suspended at the same time, and joins
// them; for comparison it does so with as many pthreads as the machine allows. Prints a table of
// times and memory for each thread.
//
//     tour [--count N] [--pthreads N]
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>

#include <weft/weft.hpp>

namespace {

using Clock = std::chrono::steady_clock;

// Seconds since the last lap.
class Watch {
public:
    double lap() {
        const auto before = std::exchange(last_, Clock::now());
        return std::chrono::duration<double>(last_ - before).count();
    }

private:
    Clock::time_point last_ = Clock::now();
};

// The number in bytes of a line "Name: 12345 kB" of a file in /proc; 0 when there is no such line.
double proc_bytes(const char* file, std::string_view name) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(name)) return 1024.0 * std::strtod(line.c_str() + name.size() + 1, nullptr);
    }
    return 0;
}

// The memory that this process holds: resident pages and their page tables. The kernel's memory for
// each OS thread, its kernel stack and its task, some 20 KiB, is not included.
double held_bytes() { return proc_bytes("/proc/self/status", "VmRSS") + proc_bytes("/proc/self/status", "VmPTE"); }

struct Row {
    std::string what;
    std::size_t count = 0;
    double create = 0;   // seconds, for all threads together; at the end some may be suspended already
    double suspend = 0;
    double resume = 0;
    double join = 0;
    double bytes = 0;
    std::string stopped_by = {};
};

Row tour_of_weft(std::size_t count) {
    Row row{.what = "weft::thread, one stream", .count = count};
    weft::runtime runtime{{.streams = 1}};
    const double before = held_bytes();
    std::atomic<std::size_t> suspended{0};
    Watch watch;
    auto threads = weft::spawn_many(
        count, [&suspended] { weft::this_thread::suspend([&suspended](weft::unit_ref) { suspended.fetch_add(1); }); });
    row.create = watch.lap();
    while (suspended.load() < count) weft::this_thread::yield();
    row.suspend = watch.lap();
    row.bytes = held_bytes() - before;
    watch.lap();
    for (std::size_t i = 0; i < count; ++i) threads[i].resume();
    row.resume = watch.lap();
    threads.join();
    row.join = watch.lap();
    return row;
}

// A pthread and the semaphore that it waits for.
struct Pthread {
    pthread_t thread;
    sem_t go;
    std::atomic<std::size_t>* waiting;

    static void* body(void* self) {
        auto* const me = static_cast<Pthread*>(self);
        me->waiting->fetch_add(1);
        while (sem_wait(&me->go) != 0) {}
        return nullptr;
    }
};

// Each OS thread also takes kernel memory; this keeps a machine that is short of memory from
// running out of it.
bool memory_is_short() {
    return proc_bytes("/proc/meminfo", "MemAvailable") < 0.15 * proc_bytes("/proc/meminfo", "MemTotal");
}

void allow_more_threads() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NPROC, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NPROC, &limit);   // if this is refused, fewer threads are created
}

// Creates threads until one is refused, and notes the reason in the row.
void create_pthreads(std::vector<Pthread>& threads, std::atomic<std::size_t>& waiting, Row& row) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::max<std::size_t>(PTHREAD_STACK_MIN, 16 * 1024));
    pthread_attr_setguardsize(&attributes, 0);   // with guards the limit of mappings is reached near 32,000 threads
    for (; row.count < threads.size(); ++row.count) {
        if (row.count % 1024 == 1023 && memory_is_short()) {
            row.stopped_by = "memory is short";
            break;
        }
        Pthread& next = threads[row.count];
        next.waiting = &waiting;
        sem_init(&next.go, 0, 0);
        const int refused = pthread_create(&next.thread, &attributes, Pthread::body, &next);
        if (refused != 0) {
            row.stopped_by = std::strerror(refused);
            break;
        }
    }
    pthread_attr_destroy(&attributes);
}

Row tour_of_pthreads(std::size_t most) {
    Row row{.what = "pthread, 16 KiB stack"};
    allow_more_threads();
    std::vector<Pthread> threads(most);
    std::atomic<std::size_t> waiting{0};
    const double before = held_bytes();
    Watch watch;
    create_pthreads(threads, waiting, row);
    row.create = watch.lap();
    while (waiting.load() < row.count) std::this_thread::yield();
    row.suspend = watch.lap();
    row.bytes = held_bytes() - before;
    watch.lap();
    for (std::size_t i = 0; i < row.count; ++i) sem_post(&threads[i].go);
    row.resume = watch.lap();
    for (std::size_t i = 0; i < row.count; ++i) pthread_join(threads[i].thread, nullptr);
    row.join = watch.lap();
    for (std::size_t i = 0; i < row.count; ++i) sem_destroy(&threads[i].go);
    return row;
}

std::string grouped(std::size_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t i = digits.size(); i > 3; i -= 3)
        digits.insert(digits.begin() + static_cast<std::ptrdiff_t>(i - 3), ',');
    return digits;
}

void print(const Row& row) {
    const double each = row.count == 0 ? 0 : 1e9 / static_cast<double>(row.count);
    const double total = row.create + row.suspend + row.resume + row.join;
    const double bytes = row.count == 0 ? 0 : row.bytes / static_cast<double>(row.count);
    std::printf("%-26s %10s %9.0f %9.0f %9.0f %9.0f %9.0f %9.2f %9.1f\n", row.what.c_str(), grouped(row.count).c_str(),
                each * row.create, each * row.suspend, each * row.resume, each * row.join, each * total, total,
                bytes / 1024);
}

void print_table(const Row& weft, const Row& pthreads) {
    std::printf("%-26s %10s %9s %9s %9s %9s %9s %9s %9s\n", "suspended all at once", "threads", "create", "suspend",
                "resume", "join", "in all", "in all", "held");
    std::printf("%-26s %10s %9s %9s %9s %9s %9s %9s %9s\n", "", "", "ns each", "ns each", "ns each", "ns each",
                "ns each", "s", "KiB each");
    print(weft);
    print(pthreads);
    if (!pthreads.stopped_by.empty()) {
        std::printf("After %s pthreads the machine allowed no more: %s.\n", grouped(pthreads.count).c_str(),
                    pthreads.stopped_by.c_str());
    }
}

// The number after the option `name`; exits with status 2 when it is not a valid number.
std::size_t number_for(const char* name, const char* text) {
    std::size_t number = 0;
    const char* const end = text == nullptr ? nullptr : text + std::strlen(text);
    if (text != nullptr && std::from_chars(text, end, number).ptr == end && number > 0) return number;
    std::fprintf(stderr, "tour: %s '%s' is not a number of threads: give 1 or more\n", name,
                 text == nullptr ? "" : text);
    std::exit(2);
}

}   // namespace

int main(int count, char** arguments) {
    std::size_t ults = 1'000'000;
    std::size_t pthreads = 50'000;
    for (int i = 1; i < count; i += 2) {
        const std::string_view name = arguments[i];
        if (name == "--count") {
            ults = number_for("--count", arguments[i + 1]);
        } else if (name == "--pthreads") {
            pthreads = number_for("--pthreads", arguments[i + 1]);
        } else {
            std::fprintf(stderr, "tour: there is no option '%s'; usage: tour [--count N] [--pthreads N]\n",
                         arguments[i]);
            return 2;
        }
    }
    try {
        const Row weft = tour_of_weft(ults);
        print_table(weft, tour_of_pthreads(pthreads));
    } catch (const weft::error& problem) {
        std::fprintf(stderr, "tour: %s\n", problem.what());
        return 1;
    }
}
