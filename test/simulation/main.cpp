// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The behavioural tests as scenarios of the simulator: each test that is not marked in outside.txt,
// under each seed, in a process of its own. A failure prints the scenario, the seed, the table of
// steps, and the command that replays it.
//
//     simulation --seeds=3                          all scenarios, three seeds each
//     simulation --filter=Mutex.* --seeds=100 --first-seed=500  these scenarios, from this seed on
//     simulation --filter=Mutex.IsFair --replay=0@57>2 --trace  one run again, with each step
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include <weft/status.hpp>

#include "os/sim/machine.hpp"
#include "runtime/runtime.hpp"
#include "test/behaviour/waiting.hpp"
#include "weft/sim.hpp"

namespace {

namespace sim = weft::sim;

struct Command {
    // some tests run a hundred rounds; Weft is what is tested
    sim::options explore{.seeds = 1, .most_steps = 20'000'000, .weft_steps = true};
    std::string filter = "*";
    std::string outside, punctual;
    unsigned shard = 0, shards = 1;
    bool list = false;
    bool go_on = false;   // after a failure
    bool quiet = false;
    // each refusable system call is refused in turn; the outcome of the test does not count
    bool faults = false;
    std::time_t slow_s = 0;   // scenarios that take longer are named
};

[[noreturn]] void usage(const std::string& word) {
    std::fprintf(stderr,
                 "simulation: '%s' is not understood; there are --filter=PATTERN:-PATTERN --seeds=N --first-seed=N "
                 "--by=random|priorities|both "
                 "--replay=TEXT --trace --lines=N --steps=N --shard=I/N --harts=N --outside=FILE --punctual=FILE "
                 "--slow=S --list --faults --go-on --no-stores --no-shrink --no-weft-steps --quiet\n",
                 word.c_str());
    std::exit(2);
}

Command read(int count, char** words) {
    Command made;
    static std::string replay;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        const std::size_t at = word.find('=');
        const std::string name = word.substr(0, at), value = at == std::string::npos ? "" : word.substr(at + 1);
        if (name == "--filter") made.filter = value;
        else if (name == "--seeds") made.explore.seeds = std::strtoull(value.c_str(), nullptr, 10);
        else if (name == "--first-seed") made.explore.first_seed = std::strtoull(value.c_str(), nullptr, 10);
        else if (name == "--by" && value == "random") made.explore.by = sim::scheduler::random;
        else if (name == "--by" && value == "priorities") made.explore.by = sim::scheduler::priorities;
        else if (name == "--by" && value == "both") made.explore.by = sim::scheduler::both;
        else if (name == "--replay") made.explore.replay = (replay = value).c_str();
        else if (name == "--harts")
            made.explore.harts = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
        else if (name == "--fail-at") made.explore.fail_at = std::strtoull(value.c_str(), nullptr, 10);
        else if (name == "--steps") made.explore.most_steps = std::strtoull(value.c_str(), nullptr, 10);
        else if (name == "--lines") made.explore.lines = std::strtoull(value.c_str(), nullptr, 10);
        else if (name == "--slow") made.slow_s = std::strtol(value.c_str(), nullptr, 10);
        else if (name == "--outside") made.outside = value;
        else if (name == "--punctual") made.punctual = value;
        else if (name == "--shard" && std::sscanf(value.c_str(), "%u/%u", &made.shard, &made.shards) == 2) continue;
        else if (word == "--trace") made.explore.trace = true;
        else if (word == "--no-stores") made.explore.store_buffers = false;
        else if (word == "--no-early") made.explore.early_wakes = false;
        else if (word == "--no-shrink") made.explore.shrink = false;
        else if (word == "--no-weft-steps") made.explore.weft_steps = false;
        else if (word == "--list") made.list = true;
        else if (word == "--go-on") made.go_on = true;
        else if (word == "--faults") made.faults = true;
        else if (word == "--quiet") made.quiet = true;
        else usage(word);
    }
    return made;
}

// Matches the whole of `text`; `*` and `?` as in a shell.
bool matches(const char* pattern, const char* text) {
    if (*pattern == '*') return matches(pattern + 1, text) || (*text != '\0' && matches(pattern, text + 1));
    if (*pattern == '\0' || *text == '\0') return *pattern == *text;
    return (*pattern == *text || *pattern == '?') && matches(pattern + 1, text + 1);
}

// Several patterns, separated by `:`: the last that matches decides; one that begins with `-`
// excludes.
bool chooses(const std::string& patterns, const std::string& text) {
    bool chosen = false;
    std::istringstream in(patterns);
    for (std::string pattern; std::getline(in, pattern, ':');) {
        const bool against = pattern[0] == '-';
        if (matches(pattern.c_str() + against, text.c_str())) chosen = !against;
    }
    return chosen;
}

// Which tests a file marks: the first word of each line is a pattern, the rest gives the reason.
class Marks {
public:
    explicit Marks(const std::string& file) : file_(file) {
        if (file.empty()) return;
        std::ifstream in(file);
        if (!in) stop("it cannot be read");
        for (std::string line; std::getline(in, line);) {
            const std::string word = line.substr(0, line.find_first_of(" \t"));
            if (!word.empty() && word[0] != '#') patterns_.push_back({word});
        }
    }
    bool on(const std::string& name) {
        bool marked = false;
        for (Pattern& pattern : patterns_) {
            if (!matches(pattern.text.c_str(), name.c_str())) continue;
            marked = pattern.used = true;
        }
        return marked;
    }
    // After all tests: a pattern that matches none is a mistake.
    void check() const {
        for (const Pattern& pattern : patterns_) {
            if (!pattern.used) stop("no test is called '" + pattern.text + "'");
        }
    }

private:
    struct Pattern {
        std::string text;
        bool used = false;
    };
    [[noreturn]] void stop(const std::string& why) const {
        std::fprintf(stderr, "simulation: %s: %s\n", file_.c_str(), why.c_str());
        std::exit(2);
    }
    std::string file_;
    std::vector<Pattern> patterns_;
};

struct Scenario {
    std::string name;
    bool punctual;   // it assumes real time: no deadline comes early
};

std::vector<Scenario> scenarios(const Command& command) {
    Marks outside(command.outside), punctual(command.punctual);
    std::vector<Scenario> found;
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int k = 0; k < suite.total_test_count(); ++k) {
            const std::string name = std::string(suite.name()) + "." + suite.GetTestInfo(k)->name();
            const bool is_punctual = punctual.on(name);
            if (!outside.on(name) && chooses(command.filter, name)) found.push_back({name, is_punctual});
        }
    }
    outside.check();
    punctual.check();
    return found;
}

// In a run in which a call is refused: whether the test may fail. What it then leaves undone is
// excused: it may wait forever for a result of the refused call, even in a loop that the simulator
// does not see, so from then on it has little time to end.
bool may_fail = false;

void fail_and_hurry() {
    if (!may_fail || std::exchange(sim::machine_excuses, true)) return;
    signal(SIGVTALRM, [](int) { sim::machine_excused(); });
    const itimerval soon{{0, 0}, {0, 50'000}};   // of the processor's time
    setitimer(ITIMER_VIRTUAL, &soon, nullptr);
}

// Without refused calls, the run ends where an expectation fails, so that the last lines of the
// table show what led to it.
class SeesFailures : public testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult& part) override {
        if (!part.failed()) return;
        if (may_fail) return fail_and_hurry();
        sim::machine_fail(sim::End::check, std::string("an expectation of the test fails: ") +
                                               (part.file_name() != nullptr ? part.file_name() : "?") + ":" +
                                               std::to_string(part.line_number()) + "\n" + part.summary() + "\n");
    }
};

void run_test(const std::string& name) {
    // For the other tests, rescue would add a hart to each run, and time that passes.
    if (name.find("Rescue") == std::string::npos) setenv("WEFT_RESCUE", "ignore", 1);
    testing::GTEST_FLAG(filter) = name;
    testing::UnitTest::GetInstance()->listeners().Append(new SeesFailures);
    const int answer = RUN_ALL_TESTS();
    weft::end_by_itself();
    sim::check(answer == 0 || may_fail, ("test " + name + " passes").c_str());
}

// Under each seed the k-th refusable system call is refused, for every k. The result is a status,
// which the test need not expect, but no crash, no broken invariant, and, unless the test has
// reported a failure, no hang and no leak.
sim::result with_faults(sim::options with, const std::string& name) {
    sim::result all;
    const std::uint64_t first = with.first_seed, count = with.seeds;
    with.seeds = 1;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        with.first_seed = seed;
        with.fail_at = 0;
        std::uint64_t refusable = 1;
        for (std::uint64_t k = 0; k <= refusable; ++k) {
            with.fail_at = k;
            sim::result came = sim::explore(with, [&] { run_test(name); });
            came.runs += all.runs;
            came.steps += all.steps;
            if (k == 0) refusable = came.refusable;
            if (came.failed) {
                came.report = "call " + std::to_string(k) + " refused, " + came.report;
                came.replay += "' --fail-at='" + std::to_string(k);
                return came;
            }
            all = came;
        }
    }
    return all;
}

// Makes addresses the same in each process, so that behaviour that depends on one is replayed as
// well.
void without_random_addresses(char** words) {
    const int now = personality(0xffffffff);
    if (now == -1 || (now & ADDR_NO_RANDOMIZE) != 0) return;
    if (personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) == -1) return;
    char self[4096] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) > 0) execv(self, words);
}

}   // namespace

// Observes what is thrown, and calls the C++ library's own function.
extern "C" [[noreturn]] void __cxa_throw(void* thrown, void* type, void (*destroy)(void*)) {
    if (*static_cast<std::type_info*>(type) == typeid(weft::error)) {
        const weft_status code = static_cast<weft::error*>(thrown)->code();
        if (code == WEFT_NO_MEMORY || code == WEFT_SYSTEM) fail_and_hurry();   // a call was refused
    }
    reinterpret_cast<decltype(&__cxa_throw)>(dlsym(RTLD_NEXT, "__cxa_throw"))(thrown, type, destroy);
    std::abort();
}

int main(int count, char** words) {
    without_random_addresses(words);
    int one = 1;
    testing::InitGoogleTest(&one, words);
    testing::GTEST_FLAG(color) = "no";
    const Command command = read(count, words);
    may_fail = command.faults || command.explore.fail_at != 0;
    weft_test::patience_ms = 100;
    const std::vector<Scenario> all = scenarios(command);
    std::uint64_t pairs = 0, failed = 0, steps = 0;
    for (std::size_t i = command.shard; i < all.size(); i += command.shards) {
        if (command.list) {
            std::puts(all[i].name.c_str());
            continue;
        }
        const std::time_t began = std::time(nullptr);
        sim::options with = command.explore;
        if (all[i].punctual) with.early_wakes = false;
        const sim::result came =
            command.faults ? with_faults(with, all[i].name) : sim::explore(with, [&] { run_test(all[i].name); });
        if (command.slow_s > 0 && std::time(nullptr) - began >= command.slow_s) {
            std::printf("slow: %s took %ld s for %llu steps\n", all[i].name.c_str(),
                        static_cast<long>(std::time(nullptr) - began), static_cast<unsigned long long>(came.steps));
        }
        pairs += came.runs;
        steps += came.steps;
        if (command.explore.trace && !came.failed) std::fputs(came.report.c_str(), stdout);
        if (!came.failed) continue;
        ++failed;
        std::printf("FAILED %s, %s", all[i].name.c_str(),
                    command.quiet ? ("seed " + std::to_string(came.seed) + "\n").c_str() : came.report.c_str());
        if (!command.quiet) {
            std::printf("again: simulation --filter='%s' --harts=%u --replay='%s'\n", all[i].name.c_str(),
                        command.explore.harts, came.replay.c_str());
        }
        std::fflush(stdout);
        if (!command.go_on) break;
    }
    if (command.list) return 0;
    std::printf("%llu pairs of scenario and seed, %llu steps, %llu failed\n", static_cast<unsigned long long>(pairs),
                static_cast<unsigned long long>(steps), static_cast<unsigned long long>(failed));
    if (pairs == 0) std::fprintf(stderr, "simulation: no scenario is called '%s'\n", command.filter.c_str());
    return failed != 0 || pairs == 0 ? 1 : 0;
}
