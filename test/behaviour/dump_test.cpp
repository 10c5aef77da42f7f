// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dump shows where units without an OS thread stand. It may be requested by a call or by a
// signal, at any moment, and it does no harm.
#include <alloca.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "os/fault.hpp"
#include "test/behaviour/waiting.hpp"
#include "test/stress/random.hpp"
#include "weft/guest.h"

using namespace weft_test;

// Exported and not inlined, so that dladdr knows the functions (cmake/tests.cmake links this test
// with -rdynamic).
extern "C" {
#pragma GCC visibility push(default)
weft_mutex dump_mutex = WEFT_MUTEX_INIT;
weft_event dump_event = WEFT_EVENT_INIT;
weft_event dump_child_is_there = WEFT_EVENT_INIT;
atomic<int> dump_came_back{0};

[[gnu::noinline]] void dump_on_mutex() {
    EXPECT_EQ(weft_mutex_lock(&dump_mutex), WEFT_OK);
    EXPECT_EQ(weft_mutex_unlock(&dump_mutex), WEFT_OK);
    ++dump_came_back;
}
[[gnu::noinline]] void dump_on_event() {
    EXPECT_EQ(weft_event_wait(&dump_event, nullptr), WEFT_OK);
    ++dump_came_back;
}
[[gnu::noinline]] void dump_on_event_for_an_hour() {
    EXPECT_EQ(weft_event_wait_until(&dump_event, weft_now_ns() + 3'600'000'000'000, nullptr), WEFT_OK);
    ++dump_came_back;
}
[[gnu::noinline]] void dump_deeper(Bed& bed, int depth) {
    if (depth > 0) {
        dump_deeper(bed, depth - 1);
    } else {
        bed.sleep();
    }
    ++dump_came_back;
}
// A frame whose end only expressions describe: it aligns its stack, and grows it.
[[gnu::noinline]] void dump_aligned(Bed& bed, std::size_t bytes) {
    alignas(128) volatile char aligned[256] = {};
    auto* grown = static_cast<volatile char*>(alloca(bytes));
    aligned[0] = 1;
    grown[0] = 1;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&aligned) % 128, 0u);
    dump_deeper(bed, 1);
    dump_came_back += grown[0] + aligned[0] - 1;
}
[[gnu::noinline]] void dump_on_child() {
    weft_unit* child = nullptr;
    EXPECT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, nullptr, &child),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(child), WEFT_OK);   // it leaves its stack for the next unit, which is called on it
    EXPECT_EQ(weft_ult_spawn(
                  nullptr,
                  [](void*) {
                      EXPECT_EQ(weft_event_set(&dump_child_is_there, nullptr), WEFT_OK);
                      dump_on_event();
                  },
                  nullptr, nullptr, &child),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(child), WEFT_OK);
    ++dump_came_back;
}
[[gnu::noinline]] void dump_unstarted(void*) { ++dump_came_back; }
#pragma GCC visibility pop
}

namespace {

// A dump of all units, or of one.
std::string dumped(const weft_unit* unit = nullptr) {
    char* text = nullptr;
    std::size_t bytes = 0;
    std::FILE* file = open_memstream(&text, &bytes);
    EXPECT_NE(file, nullptr);
    EXPECT_EQ(unit == nullptr ? weft_dump(file) : weft_unit_dump(unit, file), WEFT_OK) << weft_error_text();
    std::fclose(file);
    std::string result(text, bytes);
    std::free(text);
    return result;
}

// A unit's line in a dump, and its frames.
std::string part_of(const std::string& dump, const std::string& start) {
    std::istringstream lines(dump);
    std::string line, found;
    bool inside = false;
    while (std::getline(lines, line)) {
        if (line.rfind("    ", 0) != 0) inside = line.find(start) != std::string::npos;
        if (inside) found += line + "\n";
    }
    return found;
}

// Expects a whole backtrace of a unit that kept still, through these functions in this order.
void expect_stands(const std::string& dump, const std::string& name, const std::vector<const char*>& functions) {
    const std::string part = part_of(dump, "'" + name + "'");
    std::size_t at = 0;
    for (const char* function : functions) {
        at = part.find(std::string(function) + "+0x", at);
        EXPECT_NE(at, std::string::npos) << function << " in\n" << part;
        if (at != std::string::npos) ++at;
    }
    EXPECT_EQ(times(part, "could not be found out"), 0u) << part;
    EXPECT_EQ(times(part, "changed while"), 0u) << part;
}

// What the process writes to standard error, readable while it runs.
class StandardError {
public:
    StandardError() : kept_(dup(STDERR_FILENO)) {
        std::FILE* file = std::tmpfile();
        EXPECT_NE(file, nullptr);
        file_ = file;
        EXPECT_GE(dup2(fileno(file), STDERR_FILENO), 0);
        EXPECT_EQ(fcntl(STDERR_FILENO, F_SETFL, O_APPEND), 0);
    }
    ~StandardError() {
        dup2(kept_, STDERR_FILENO);
        close(kept_);
        std::fclose(file_);
    }
    StandardError(const StandardError&) = delete;

    std::string text() const {
        std::string all;
        char some[4096];
        for (off_t at = 0;;) {
            const ssize_t got = pread(fileno(file_), some, sizeof some, at);
            if (got <= 0) return all;
            all.append(some, static_cast<std::size_t>(got));
            at += got;
        }
    }
    void until_it_has(const char* part, std::size_t count = 1) const {
        must_happen(part, [&] { return times(text(), part) >= count; });
    }

private:
    int kept_;
    std::FILE* file_ = nullptr;
};

// The action of a signal, for the duration of a test.
class Handler {
public:
    explicit Handler(void (*handler)(int), int signal = SIGUSR1) : signal_(signal) {
        struct sigaction ours {};
        ours.sa_handler = handler;
        sigemptyset(&ours.sa_mask);
        sigaction(signal, &ours, &before_);
    }
    ~Handler() { sigaction(signal_, &before_, nullptr); }
    Handler(const Handler&) = delete;

    static void (*now(int signal = SIGUSR1))(int) {
        struct sigaction present {};
        sigaction(signal, nullptr, &present);
        return present.sa_handler;
    }

private:
    int signal_;
    struct sigaction before_ {};
};

atomic<int> other_signals{0};
void count_signal(int) { other_signals.fetch_add(1); }

weft_settings dumping(std::size_t streams = 1) {
    weft_settings settings = with_streams(streams);
    settings.dump = SIGUSR1;
    return settings;
}

// Units that stand in the functions above; they go on at the end.
class Parked {
public:
    explicit Parked(const weft_unit_options& given = options()) {
        EXPECT_EQ(weft_mutex_lock(&dump_mutex), WEFT_OK);
        dump_event = dump_child_is_there = WEFT_EVENT_INIT;
        dump_came_back = 0;
        spawn(
            "deep", [this] { dump_deeper(deep_, 3); }, given);
        spawn(
            "aligned", [this] { dump_aligned(aligned_, 100 + dump_came_back); }, given);
        spawn("on mutex", dump_on_mutex, given);
        spawn("on event", dump_on_event, given);
        spawn("for an hour", dump_on_event_for_an_hour, given);
        for (int i = 0; i < 10; ++i) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        spawn("on child", dump_on_child, given);
        EXPECT_EQ(weft_event_wait(&dump_child_is_there, nullptr), WEFT_OK);   // alone with it, it calls the child
        until([&] { return deep_.occupied() && aligned_.occupied(); });
        weft_unit_options named = given;
        named.name = "unstarted";
        EXPECT_EQ(weft_ult_spawn(nullptr, dump_unstarted, nullptr, &named, &unstarted_), WEFT_OK);
    }
    ~Parked() {
        EXPECT_EQ(weft_mutex_unlock(&dump_mutex), WEFT_OK);
        EXPECT_EQ(weft_event_set(&dump_event, nullptr), WEFT_OK);
        EXPECT_EQ(deep_.wake(), WEFT_OK);
        EXPECT_EQ(aligned_.wake(), WEFT_OK);
        units_.clear();
        EXPECT_EQ(weft_unit_join_free(unstarted_), WEFT_OK);
        EXPECT_EQ(dump_came_back, 13);
    }
    Parked(const Parked&) = delete;

    // Expects the units that stand in a function; `unstarted`: the unit that stands in none has not
    // run yet.
    static void expect_in(const std::string& dump, bool unstarted = true) {
        expect_stands(dump, "deep", {"dump_deeper", "dump_deeper", "dump_deeper", "dump_deeper"});
        expect_stands(dump, "aligned", {"dump_deeper", "dump_deeper", "dump_aligned"});
        expect_stands(dump, "on mutex", {"dump_on_mutex"});
        expect_stands(dump, "on event", {"dump_on_event"});
        expect_stands(dump, "for an hour", {"dump_on_event_for_an_hour"});
        expect_stands(dump, "on child", {"dump_on_child"});
        EXPECT_EQ(times(part_of(dump, "'deep'"), "suspended) until it is resumed"), 1u) << part_of(dump, "'deep'");
        EXPECT_EQ(times(part_of(dump, "'on mutex'"), "waiting) for mutex 0x"), 1u) << part_of(dump, "'on mutex'");
        EXPECT_EQ(times(part_of(dump, "'on mutex'"), "dump_mutex+0 ("), 1u) << part_of(dump, "'on mutex'");
        EXPECT_EQ(times(part_of(dump, "'for an hour'"), "dump_event+0 ("), 1u) << part_of(dump, "'for an hour'");
        EXPECT_EQ(times(part_of(dump, "'for an hour'"), " s more at most; "), 1u) << part_of(dump, "'for an hour'");
        EXPECT_EQ(times(part_of(dump, "'on child'"), "waiting) for the end of unit "), 1u)
            << part_of(dump, "'on child'");
        EXPECT_EQ(times(part_of(dump, "'deep'"), "; spawned at 0x"), 1u) << part_of(dump, "'deep'");
        EXPECT_EQ(times(dump, "weft: end of the dump: "), 1u);
        if (!unstarted) return;
        EXPECT_EQ(times(part_of(dump, "'unstarted'"), "ready) has not started, will call 0x"), 1u)
            << part_of(dump, "'unstarted'");
        EXPECT_EQ(times(part_of(dump, "'unstarted'"), "dump_unstarted+0 ("), 1u) << part_of(dump, "'unstarted'");
    }

private:
    void spawn(const char* name, std::function<void()> body, weft_unit_options named) {
        named.name = name;
        units_.push_back(std::make_unique<Ult>(std::move(body), &named));
    }

    Bed deep_, aligned_;
    std::vector<std::unique_ptr<Ult>> units_;
    weft_unit* unstarted_ = nullptr;
};

}   // namespace

TEST(Dump, NamesTheFunctionsInWhichUnitsStand) {
    Runtime runtime;
    Parked parked;
    const std::string dump = dumped();
    Parked::expect_in(dump);
    EXPECT_EQ(times(dump, "end of the dump: 9 units\n"), 1u) << dump;   // with the primary unit, and the child
    EXPECT_EQ(times(part_of(dump, "stream 0 "), "runs unit "), 1u) << dump;
    EXPECT_EQ(times(part_of(dump, "(full, running)"), "on stream 0"), 1u) << dump;
}

TEST(Dump, OfUnitsOfKindFullOnSeveralStreamsIsTheSame) {
    auto settings = with_streams(3);
    settings.pool = WEFT_POOL_PRIVATE;
    settings.spin_ns = 1;
    Runtime runtime(settings);
    auto full = options();
    full.kind = WEFT_KIND_FULL;
    Parked parked(full);
    EXPECT_EQ(weft_stream_suspend(weft_stream_at(2)), WEFT_OK);
    std::string dump;
    must_happen("one sleeps, one is paused", [&] {
        dump = dumped();
        return times(part_of(dump, "stream 1 "), "asleep") != 0 &&
               times(part_of(dump, "stream 2 "), "not started") == 0;
    });
    Parked::expect_in(dump);
    EXPECT_EQ(times(part_of(dump, "stream 1 "), "asleep; OS thread "), 1u) << dump;
    EXPECT_EQ(times(part_of(dump, "stream 2 "), "paused; OS thread "), 1u) << dump;
    EXPECT_EQ(times(part_of(dump, "stream 0 "), "(private, 1 ready)"), 1u) << dump;
    EXPECT_EQ(weft_stream_resume(weft_stream_at(2)), WEFT_OK);
}

TEST(Dump, IsMadeFromAnywhere) {
    Runtime runtime;
    Parked parked;
    // A stack of the smallest size, doubled under a sanitizer.
    auto small = options();
    small.stack_bytes = WEFT_STACK_LEAST;
    Ult ult([] { Parked::expect_in(dumped(), false); }, sanitized ? nullptr : &small);
    EXPECT_EQ(ult.join(), WEFT_OK);
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr,
                  [](void*) {
                      const std::string dump = dumped();
                      expect_stands(dump, "deep", {"dump_deeper"});
                      // The primary unit waits; its stack is the C library's.
                      EXPECT_NE(part_of(dump, "(full, waiting) for the end of unit ").find(" testing::Test::Run()+0x"),
                                std::string::npos)
                          << dump;
                      EXPECT_EQ(times(dump, "(tasklet, running) on stream 0"), 1u) << dump;
                  },
                  nullptr, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    std::thread outside([] { Parked::expect_in(dumped(), false); });
    outside.join();
}

TEST(Dump, TellsTheSameFramesOnce) {
    Runtime runtime;
    dump_event = WEFT_EVENT_INIT;
    std::vector<std::unique_ptr<Ult>> units;
    for (int i = 0; i < 100; ++i) units.push_back(std::make_unique<Ult>(dump_on_event));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    const std::string dump = dumped();
    EXPECT_EQ(times(dump, "dump_on_event+0x"), 1u) << dump;
    EXPECT_EQ(times(dump, "    the frames of unit "), 99u) << dump;
    EXPECT_EQ(weft_event_set(&dump_event, nullptr), WEFT_OK);
}

TEST(Dump, OfOneUnitShowsThatOneAlone) {
    Runtime runtime;
    Parked parked;
    weft_unit* parked_on_mutex = nullptr;
    EXPECT_EQ(weft_unit_each(
                  [](const weft_unit_info* info, void* found) {
                      if (std::string(info->name) == "on mutex") *static_cast<weft_unit**>(found) = info->unit;
                  },
                  &parked_on_mutex),
              WEFT_OK);
    const std::string dump = dumped(parked_on_mutex);
    expect_stands(dump, "on mutex", {"dump_on_mutex"});
    EXPECT_EQ(times("\n" + dump, "\nunit "), 1u) << dump;
    EXPECT_EQ(times(dump, "weft: "), 0u) << dump;
    const std::string mine = dumped(weft_unit_self());
    EXPECT_EQ(times(mine, "(full, running) on stream 0"), 1u) << mine;
}

namespace {

// What a library knows about one unit, and about a guest by its OS thread. A describer stays for
// the life of the process, so this one says nothing unless a test asks for it.
struct Known {
    std::atomic<const weft_unit*> unit{nullptr};
    std::atomic<std::uint32_t> os_thread{0};
    std::atomic<bool> reads_what_is_not_there{false};
};
Known known;

void describe_known(const weft_description* of, void* raw) {
    auto& about = *static_cast<Known*>(raw);
    std::uint32_t copy = 0;
    const bool known_thread = of->os_thread != 0 && of->os_thread == about.os_thread.load();
    if (known_thread) std::snprintf(of->text, of->bytes, "a thread that is known");
    if (of->unit != about.unit.load()) return;
    if (of->peek(nullptr, &copy, sizeof copy) != 0) about.reads_what_is_not_there = true;
    const bool copied = of->peek(&about.os_thread, &copy, sizeof copy) == sizeof copy;
    if (copied) std::snprintf(of->text, of->bytes, "known by %u", copy);
}

}   // namespace

TEST(Dump, HasWhatALibrarySaysOfAUnit) {
    static const bool added = weft_describer_register(describe_known, &known) == WEFT_OK;
    ASSERT_TRUE(added);
    EXPECT_EQ(weft_describer_register(nullptr, nullptr), WEFT_INVALID);
    Runtime runtime;
    dump_event = WEFT_EVENT_INIT;
    Ult told(dump_on_event), other(dump_on_event);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    std::thread guest([&] {
        ASSERT_EQ(weft_guest_enter(), WEFT_OK);
        known.unit = told.handle();
        known.os_thread = static_cast<std::uint32_t>(gettid());
        const std::string dump = dumped();
        EXPECT_EQ(times(dump, "; known by " + std::to_string(gettid()) + "; spawned at "), 1u) << dump;
        EXPECT_EQ(times(dump, "known by"), 1u) << dump;
        EXPECT_EQ(times(part_of(dump, "'guest' ("), "; a thread that is known"), 1u) << dump;
        EXPECT_EQ(times(dump, "a thread that is known"), 1u) << dump;
        EXPECT_EQ(times(dumped(told.handle()), "; known by "), 1u);
        EXPECT_EQ(times(dumped(other.handle()), "known"), 0u);
        EXPECT_FALSE(known.reads_what_is_not_there.load());
        known.unit = nullptr;
        known.os_thread = 0;
        EXPECT_EQ(weft_guest_leave(), WEFT_OK);
    });
    guest.join();
    EXPECT_EQ(weft_event_set(&dump_event, nullptr), WEFT_OK);
}

TEST(Dump, OfAUnitThatHasBeenFreedIsEmpty) {
    Runtime runtime;
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_ult_spawn(nullptr, dump_unstarted, nullptr, nullptr, &unit), WEFT_OK);
    ASSERT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(dumped(unit), "");
}

TEST(Dump, NeedsARuntimeAndAFileThatCanBeWritten) {
    EXPECT_EQ(weft_dump(stderr), WEFT_NOT_INITIALIZED);
    Runtime runtime;
    EXPECT_EQ(weft_dump(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_dump(nullptr, stderr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_dump(weft_unit_self(), nullptr), WEFT_INVALID);
    std::FILE* full = std::fopen("/dev/full", "we");
    ASSERT_NE(full, nullptr);
    setvbuf(full, nullptr, _IONBF, 0);
    EXPECT_EQ(weft_dump(full), WEFT_SYSTEM);
    EXPECT_NE(std::string(weft_error_text()).find("could not be written"), std::string::npos) << weft_error_text();
    std::fclose(full);
}

TEST(DumpBySignal, GoesToStandardErrorOnceForEachTimeItIsAskedFor) {
    const StandardError said;
    Runtime runtime(dumping());
    Parked parked;
    for (std::size_t i = 1; i <= 3; ++i) {
        EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
        said.until_it_has("end of the dump", i);
    }
    const std::string all = said.text();
    EXPECT_EQ(times(all, "weft: dump of process " + std::to_string(getpid())), 3u) << all;
    Parked::expect_in(all.substr(0, all.find('\n', all.find("end of the dump")) + 1));
}

TEST(DumpBySignal, IsMadeWhileTheOnlyStreamDoesNotComeBackToItsScheduler) {
    const StandardError said;
    Runtime runtime(dumping());
    Ult works([&] {
        EXPECT_EQ(raise(SIGUSR1), 0);
        said.until_it_has("end of the dump");   // on this OS thread, without a switch
    });
    EXPECT_EQ(works.join(), WEFT_OK);
}

TEST(DumpBySignal, IsMadeWhenAllThreadsOfTheProgramBlockTheSignal) {
    if (weft::config::thread_sanitizer)
        GTEST_SKIP() << "it keeps signals back from a thread that sleeps by a system call that it does not know";
    sigset_t own, before;
    sigemptyset(&own);
    sigaddset(&own, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &own, &before);
    const StandardError said;
    {
        Runtime runtime(dumping(2));
        EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
        said.until_it_has("end of the dump");
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(DumpBySignal, RestoresTheHandlerThatWasThere) {
    const Handler mine(count_signal);
    other_signals = 0;
    for (int round = 0; round < 3; ++round) {
        {
            Runtime runtime(dumping());
            EXPECT_NE(Handler::now(), count_signal);
        }
        EXPECT_EQ(Handler::now(), count_signal);
        EXPECT_EQ(raise(SIGUSR1), 0);
        EXPECT_EQ(other_signals, round + 1);
    }
    auto asked = dumping();
    asked.dump = SIGUSR2;
    Runtime runtime(asked);
    EXPECT_EQ(Handler::now(), count_signal) << "another signal is nobody's business";
}

TEST(DumpBySignal, LeavesAHandlerThatCameLater) {
    const Handler mine(count_signal);
    {
        Runtime runtime(dumping());
        struct sigaction later {};
        later.sa_handler = SIG_IGN;
        sigaction(SIGUSR1, &later, nullptr);
    }
    EXPECT_EQ(Handler::now(), SIG_IGN);
}

TEST(DumpBySignal, AReaderThatDoesNotReadKeepsNobody) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const int kept = dup(STDERR_FILENO);
    {
        Runtime runtime(dumping());
        std::vector<std::unique_ptr<Ult>> units;
        Bed beds[1000];
        for (Bed& bed : beds) units.push_back(std::make_unique<Ult>([&bed] { bed.sleep(); }));
        // together they need more than the pipe holds
        for (int i = 0; i < 3; ++i) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        dup2(ends[1], STDERR_FILENO);
        EXPECT_EQ(raise(SIGUSR1), 0);
        must_happen("the pipe is full", [&] {
            pollfd room{ends[1], POLLOUT, 0};
            return poll(&room, 1, 0) == 0;
        });
        for (Bed& bed : beds) EXPECT_EQ(bed.wake(), WEFT_OK);
    }
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(ends[0]);
    close(ends[1]);
}

TEST(DumpBySignal, ASignalThatCannotBeIsRefused) {
    for (int bad : {SIGKILL, SIGSTOP, SIGSEGV, SIGABRT, 32, 65, -1}) {
        auto asked = with_streams(1);
        asked.dump = bad;
        EXPECT_EQ(weft_init(&asked), WEFT_INVALID) << bad;
        const std::string why = weft_error_text();
        EXPECT_NE(why.find("WEFT_DUMP"), std::string::npos) << why;
        EXPECT_NE(why.find("KILL"), std::string::npos) << why;
        EXPECT_FALSE(weft_initialized());
    }
}

TEST(DumpBySignal, WithoutAThreadForItTheRuntimeDoesNotStart) {
    if (!weft::config::checked) GTEST_SKIP() << "faults are injected in checked builds";
    const Handler mine(count_signal);
    weft::os::fault_hook.store([](weft::os::Seam seam) { return seam == weft::os::Seam::thread; });
    const auto asked = dumping();
    EXPECT_EQ(weft_init(&asked), WEFT_SYSTEM);
    EXPECT_NE(std::string(weft_error_text()).find("WEFT_DUMP"), std::string::npos) << weft_error_text();
    EXPECT_FALSE(weft_initialized());
    EXPECT_EQ(Handler::now(), count_signal);
    weft::os::fault_hook.store(nullptr);
}

// Units of all kinds switch, move and end on several streams while dumps are requested at random.
TEST(DumpStress, AtAnyMomentItHarmsNobody) {
    const Deadline deadline(300);
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    const Handler mine(count_signal);   // the action between two runtimes
    setenv("WEFT_DUMP", "USR1", 1);
    std::size_t begun = 0, ended = 0;
    {
        const StandardError said;
        atomic<bool> over{false};
        std::thread asks([&] {
            weft::Random random(seed + 1);
            while (!over) {
                kill(getpid(), SIGUSR1);
                std::this_thread::sleep_for(std::chrono::microseconds(random.below(2000)));
            }
        });
        weft::Random random(seed);
        for (int i = 0; i < (sanitized ? 4 : 12); ++i) RandomProgram(random.next(), scaled(3000)).run();
        over = true;
        asks.join();
        const std::string all = said.text();
        begun = times(all, "weft: dump of process ");
        ended = times(all, "weft: end of the dump");
        std::printf("%zu dumps, %zu of them to the end, %zu bytes, %zu units that did not keep still\n", begun, ended,
                    all.size(), times(all, "changed while"));
    }
    unsetenv("WEFT_DUMP");
    EXPECT_GT(begun, 0u);
    EXPECT_GT(ended, 0u);   // a finalize cuts one dump short
    EXPECT_EQ(Handler::now(), count_signal);
}

// Nothing that a dump reads stays in place: the stacks and descriptors of units come and go.
TEST(DumpStress, WhileUnitsComeAndGoAndTheirMemoryIsTrimmed) {
    const Deadline deadline(300);
    auto settings = dumping(3);
    settings.pool = WEFT_POOL_SHARED;
    settings.idle_memory_bytes = 1;
    const StandardError said;
    Runtime runtime(settings);
    atomic<bool> over{false};
    atomic<int> dumps{0};
    std::thread asks([&] {
        while (dumps < scaled(100)) {
            std::FILE* nowhere = std::fopen("/dev/null", "we");
            EXPECT_EQ(weft_dump(nowhere), WEFT_OK) << weft_error_text();
            std::fclose(nowhere);
            kill(getpid(), SIGUSR1);
            ++dumps;
        }
        over = true;
    });
    while (!over) {
        std::vector<std::unique_ptr<Ult>> units;
        for (int i = 0; i < 600; ++i) units.push_back(std::make_unique<Ult>([] { weft_unit_yield(); }));
        units.clear();
        EXPECT_EQ(weft_memory_trim(), WEFT_OK);
    }
    asks.join();
}
