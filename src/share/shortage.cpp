// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "share/shortage.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "os/clock.hpp"
#include "process/housekeeping.hpp"
#include "process/process.hpp"

namespace weft {
namespace {

std::size_t stack_bytes_of(const Process& of, const Unit& unit) {
    const std::size_t wanted = unit.wanted_stack_bytes();
    return wanted != 0 ? wanted : of.settings.values.stack_bytes;
}

// Under the lock, while some wait.
void tell(const Process& of, const Shortage& shortage, const char* what_next) {
    const Unit& first = *shortage.units.front();
    const auto id = static_cast<unsigned long long>(first.id);
    char others[64] = "";
    if (const std::size_t more = shortage.count.load() - 1; more != 0)
        std::snprintf(others, sizeof others, ", with %zu others that are detached,", more);
    if (first.kind == Kind::hosted) {
        std::fprintf(stderr,
                     "weft: unit %llu, which is detached and hosted%s has not run: pthread_create is refused for it "
                     "(see ulimit -u and the cgroup's "
                     "pids.max); %s\n",
                     id, others, what_next);
        return;
    }
    std::fprintf(
        stderr,
        "weft: unit %llu, which is detached%s has not run: no stack of %zu bytes can be had for it; %s. Have fewer "
        "units at once, or smaller "
        "stacks (WEFT_STACK_BYTES, stack_bytes), or see ulimit -v, the cgroup's memory.max and vm.max_map_count\n",
        id, others, stack_bytes_of(of, first), what_next);
}

// Under the lock.
void put(Shortage& shortage, Unit& unit) {
    shortage.check();
    shortage.units.push_back(&unit);
    // relaxed: a hint
    shortage.count.store(shortage.count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Under the lock: takes at most `most` units.
Shortage::Units take(Shortage& shortage, std::size_t most) {
    shortage.check();
    Shortage::Units taken;
    std::size_t count = shortage.count.load(std::memory_order_relaxed);   // relaxed, and below: a hint
    for (; most != 0 && count != 0; --most, --count) taken.push_back(shortage.units.pop_front());
    shortage.count.store(count, std::memory_order_relaxed);
    return taken;
}

void arm(Stream& stream, Shortage& shortage, std::uint64_t now_ns);

// The units are tried in the order in which they came. Where the program has promised that one
// stream alone pushes, the calling stream runs one unit itself; any other waits on.
void try_again(Stream& stream, Shortage& shortage, Shortage::Units units) {
    while (Unit* const unit = units.pop_front()) {
        if (!unit->pool->one_pushes()) {
            make_ready(&stream, *unit, pool::From::last);
        } else if (stream.next_unit == nullptr) {
            stream.next_unit = unit;
        } else {
            std::lock_guard guard(shortage.lock);
            put(shortage, *unit);
            arm(stream, shortage, os::now_ns());
        }
    }
}

void time_has_come(Timer&) {
    Stream& stream = current();
    Process& of = *stream.of;
    Shortage& shortage = of.shortage;
    const std::uint64_t now_ns = os::now_ns();
    Shortage::Units some;
    {
        std::lock_guard guard(shortage.lock);
        shortage.armed = false;
        shortage.tried_ns = now_ns;
        if (!shortage.any()) return;
        if (shortage.refused) {
            shortage.batch = 1;
            shortage.pause_ns = std::min(2 * shortage.pause_ns, Shortage::longest_pause_ns);
        } else {
            shortage.batch *= 2;
            shortage.pause_ns = Shortage::shortest_pause_ns;
            shortage.since_ns = now_ns;
        }
        shortage.refused = false;
        if (!shortage.told && now_ns - shortage.since_ns >= Shortage::told_after_ns) {
            shortage.told = true;
            tell(of, shortage, "it waits until one is free (reported once)");
        }
        some = take(shortage, shortage.batch);
        if (shortage.any()) arm(stream, shortage, now_ns);
    }
    try_again(stream, shortage, some);
}

void arm(Stream& stream, Shortage& shortage, std::uint64_t now_ns) {
    if (shortage.armed || stream.of->running_out.load()) return;
    shortage.armed = true;
    shortage.timer.claim = [](Timer&) { return true; };
    shortage.timer.fire = time_has_come;
    shortage.timer.deadline_ns = now_ns + shortage.pause_ns;
    arm(stream, shortage.timer);
}

}   // namespace

void keep_for_stack(Stream& stream, Unit& unit) {
    Shortage& shortage = stream.of->shortage;
    const std::uint64_t now_ns = os::now_ns();
    std::lock_guard guard(shortage.lock);
    // a new shortage, and not the one before
    if (!shortage.any() && now_ns - shortage.tried_ns > 2 * Shortage::longest_pause_ns) {
        shortage.pause_ns = Shortage::shortest_pause_ns;
        shortage.since_ns = now_ns;
    }
    put(shortage, unit);
    shortage.refused = true;
    arm(stream, shortage, now_ns);
}

bool has_kept(Stream& stream) {
    Process& of = *stream.of;
    if (!of.shortage.any() || of.running_out.load()) return false;
    std::lock_guard guard(of.shortage.lock);
    for (const Unit* unit = of.shortage.units.front(); unit != nullptr; unit = unit->link) {
        for (std::size_t i = 0; i < stream.sched->count; ++i) {
            if (stream.sched->pools[i] == unit->pool) return true;
        }
        if (unit->pool == stream.own) return true;
    }
    return false;
}

bool try_kept_again(Process& of) {
    Shortage::Units all;
    Shortage::Units kept;
    {
        std::lock_guard guard(of.shortage.lock);
        const std::size_t count = of.shortage.count.load();
        if (count == 0 || count >= of.shortage.left_before) return false;
        of.shortage.left_before = count;
        all = take(of.shortage, count);
    }
    while (Unit* const unit = all.pop_front()) {
        if (unit->pool->one_pushes()) {
            kept.push_back(unit);
        } else {
            make_ready(current_or_null(), *unit, pool::From::last);
        }
    }
    std::lock_guard guard(of.shortage.lock);
    while (Unit* const unit = kept.pop_front()) put(of.shortage, *unit);
    return true;
}

void tell_of_kept(Process& of) {
    std::lock_guard guard(of.shortage.lock);
    if (of.shortage.any()) tell(of, of.shortage, "the runtime ends, and it never will");
}

}   // namespace weft
