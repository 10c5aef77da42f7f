// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "usual_threads.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

#include <weft/guest.h>
#include <weft/hart.h>
#include <weft/sync.h>
#include <weft/unit.h>

#include "icv.hpp"
#include "team.hpp"

namespace weft_openmp {

namespace {

// A thread has rested if it has not asked for so long, and has used hardly any CPU time since then:
// it has been asleep, and not in a part of a library's call that takes long and has no regions.
constexpr std::uint64_t rest_ns = 100'000'000, hardly_any_ns = 2'000'000;

std::uint64_t cpu_time_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}   // namespace

bool Told::has_rested() const { return weft_now_ns() - at_ns_ >= rest_ns && cpu_time_ns() - cpu_ns_ < hardly_any_ns; }

unsigned Told::answer(unsigned now, unsigned most) {
    if (now > last_ && !has_rested()) now = last_;
    last_ = now;
    if (now < most) {
        at_ns_ = weft_now_ns();
        cpu_ns_ = cpu_time_ns();
    }
    return now;
}

namespace {

// Threads that the program has made, and that ask at about the same time: so many compute. Those
// that hold harts at the moment would not tell, since threads hold none between their regions;
// Python's threads are there most of the time.
class Askers {
public:
    // One asks that has last asked in window `seen`. Returns how many there are, itself included.
    unsigned count(std::uint32_t& seen) {
        const std::uint32_t now = window_now();
        // relaxed, all: numbers in one word
        std::uint64_t word = word_.load(std::memory_order_relaxed);
        if (seen != now) {
            seen = now;
            std::uint64_t next;
            do {
                const std::uint32_t passed = now - window_of(word);
                // another thread may have read the clock later
                const bool goes_on = passed == 0 || passed > ~std::uint32_t{0} / 2;
                next = goes_on ? word + 1 : word_with(now, passed == 1 ? current_of(word) : 0, 1);
            } while (!word_.compare_exchange_weak(word, next, std::memory_order_relaxed));
            word = next;
        }
        return std::max({previous_of(word), current_of(word), 1U});
    }
    unsigned count() const {
        const std::uint64_t word = word_.load(std::memory_order_relaxed);
        const std::uint32_t passed = window_now() - window_of(word);
        if (passed == 0) return std::max(previous_of(word), current_of(word));
        return passed == 1 ? current_of(word) : 0;
    }

private:
    static constexpr std::uint64_t window_ns = 50'000'000;
    static std::uint32_t window_now() { return static_cast<std::uint32_t>(weft_now_ns() / window_ns); }

    // The number of the window, and how many have asked in the previous one and in it: 16 bits
    // count the threads of a process.
    static std::uint64_t word_with(std::uint32_t window, unsigned previous, unsigned current) {
        return std::uint64_t{window} << 32 | previous << 16 | current;
    }
    static std::uint32_t window_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
    static unsigned previous_of(std::uint64_t word) { return word >> 16 & 0xffff; }
    static unsigned current_of(std::uint64_t word) { return word & 0xffff; }

    std::atomic<std::uint64_t> word_{0};
};

constinit Askers askers;

// Harts that a region of this thread would have at once: those that are free, its own, and those on
// which its own members spin for the next region.
unsigned grantable(const Thread& me) {
    weft_hart_use use{};
    use.size = sizeof use;
    std::size_t harts = weft_hart_use_get(&use) == WEFT_OK ? use.available : weft_hart_limit();
    if (weft_unit_self() != nullptr) ++harts;
    if (me.team_pools.size() > 1) {
        const TeamPool& team_pool = *me.team_pools[1];
        const unsigned called = team_pool.awake.load() - 1, asleep = team_pool.team.helpers.count();
        harts += called > asleep ? called - asleep : 0;
    }
    return static_cast<unsigned>(std::clamp<std::size_t>(harts, 1, weft_hart_limit()));
}

// Whether the thread is one of several, in tasks of another library, whose load its share follows.
bool is_concurrent(const Thread& me) {
    return environment().follows_load && me.team->level == 0 && !me.has_chosen && weft_concurrent();
}

bool is_foreign(const Thread& me) { return me.foreign && me.team->level == 0 && !me.has_chosen; }

// Where several threads ask, each gets the same share. What could be granted now would leave the
// first one all harts, and the others one each.
unsigned share_of_foreign(Thread& me) {
    const unsigned sharers = askers.count(me.told.asked_in);
    if (sharers == 1) return grantable(me);
    return std::max(static_cast<unsigned>(weft_hart_limit()) / sharers, 1U);
}

// A thread that has asked gets what it was told, since it may have counted on that: OpenBLAS hangs
// in a smaller team. One among others that has not asked has what could be granted now.
unsigned usual_threads(const Thread& me, unsigned most) {
    const bool concurrent = is_concurrent(me);
    if (!concurrent && !is_foreign(me)) return most;
    return concurrent && !me.told.has_asked() ? std::min(most, grantable(me)) : std::min(most, me.told.last());
}

// relaxed, both: a number
unsigned take_threads(std::atomic<unsigned>& group, unsigned wanted, unsigned limit) {
    unsigned there = group.load(std::memory_order_relaxed), got;
    do {
        got = there >= limit ? 1 : std::min(wanted, limit - there + 1);
    } while (!group.compare_exchange_weak(there, there + got - 1, std::memory_order_relaxed));
    return got;
}

}   // namespace

unsigned asking_threads() { return askers.count(); }

unsigned max_threads(Thread& me) {
    const unsigned threads = me.icv().threads;
    const bool concurrent = is_concurrent(me);
    if (!concurrent && !is_foreign(me)) {
        if (me.team->level == 0) me.told.forget();
        return threads;
    }
    const unsigned now = concurrent ? grantable(me) : share_of_foreign(me);
    return me.told.answer(std::min(threads, now), threads);
}

unsigned threads_for(const Thread& me, unsigned wanted) {
    const Icv& icv = me.icv();
    if (wanted == 1 || me.stands || me.team->active_level >= icv.max_active_levels) return 1;
    if (wanted == 0) wanted = usual_threads(me, icv.threads);
    return icv.thread_limit == ~0U ? wanted : take_threads(*me.team->group, wanted, icv.thread_limit);
}

}   // namespace weft_openmp
