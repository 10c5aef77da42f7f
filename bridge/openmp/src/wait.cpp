// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wait.hpp"

#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <bit>
#include <ctime>

#include <weft/domain.h>
#include <weft/hart.h>
#include <weft/sync.h>

#include "bind.hpp"
#include "fatal.hpp"
#include "lending.hpp"
#include "members.hpp"
#include "team.hpp"

namespace weft_openmp {

std::uint64_t SpinBudget::further(std::uint64_t looks) {
    if (looks == most) return most;
    if (looks == overdue) weft_hart_overdue();
    // two harts' OS threads may have come to one processor. The kernel's call, since a member that
    // can go on makes it crowded
    syscall(SYS_sched_yield);
    return std::min(most, looks + overdue);
}

// Runs in the context that goes on next: the unit's stack stands still until the unit is resumed.
void Sleepers::publish(weft_unit* unit, void* raw) {
    auto& request = *static_cast<Request*>(raw);
    Sleepers& list = *request.list;
    Sleeper& sleeper = request.sleeper;
    list.lock_.lock();
    sleeper.unit = unit;
    Sleeper* const before = list.last_;
    (before == nullptr ? list.first_ : before->next) = &sleeper;
    list.last_ = &sleeper;
    list.count_.fetch_add(1);
    if (!request.condition.holds(request.condition.raw)) return list.lock_.unlock();
    (before == nullptr ? list.first_ : before->next) = nullptr;
    list.last_ = before;
    list.count_.fetch_sub(1);
    list.lock_.unlock();
    weft_unit_resume(sleeper.unit);
}

namespace {

// For a tasklet, or a scheduler's code, which cannot suspend: its OS thread waits. What it waits
// for runs on another OS thread.
[[gnu::noinline]] void stand_still(Condition condition) {
    constexpr timespec pause{0, 50'000};
    for (int looks = 0; !condition.holds(condition.raw); ++looks) {
        if (looks < 100) syscall(SYS_sched_yield);   // the kernel's call, as in SpinLock
        else syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, nullptr);
    }
}

}   // namespace

void Sleepers::suspend(Condition condition, const void* key) {
    Request request{this, condition, {nullptr, key, until_ != Until::something && lend_thread(until_), nullptr}};
    // Once the unit goes on it may have what it waited for, or owe it to the next waiter.
    const bool stays = weft_unit_end_disable() == WEFT_OK;
    const weft_status status = weft_unit_suspend(publish, &request);
    if (stays) weft_unit_end_enable();
    if (status == WEFT_WRONG_KIND || status == WEFT_WRONG_CONTEXT) [[unlikely]]
        return stand_still(condition);
    if (status != WEFT_OK) [[unlikely]]
        fatal("cannot wait", status);
    if (request.sleeper.lends) has_thread();
    come_back();
}

void Sleepers::wake_all() {
    lock_.lock();
    Sleeper* sleeper = first_;
    first_ = last_ = nullptr;
    count_.store(0);
    lock_.unlock();
    // The waiter that needs its own OS thread comes first: no member that goes on now is to be
    // carried there, and none is once that waiter can go on itself.
    for (Sleeper** at = &sleeper; *at != nullptr; at = &(*at)->next) {
        if (!(*at)->lends) continue;
        const Sleeper* const first = *at;
        *at = first->next;   // it lies on its unit's stack
        weft_unit_resume(first->unit);
        break;   // there is no other
    }
    while (sleeper != nullptr) {
        Sleeper* const next = sleeper->next;
        weft_unit_resume(sleeper->unit);
        sleeper = next;
    }
}

bool Sleepers::wake_first(const void* key) {
    lock_.lock();
    Sleeper* before = nullptr;
    Sleeper* sleeper = first_;
    for (; sleeper != nullptr && sleeper->key != key; sleeper = sleeper->next) before = sleeper;
    if (sleeper != nullptr) {
        (before == nullptr ? first_ : before->next) = sleeper->next;
        if (last_ == sleeper) last_ = before;
        count_.fetch_sub(1);
    }
    lock_.unlock();
    if (sleeper != nullptr) weft_unit_resume(sleeper->unit);
    return sleeper != nullptr;
}

// More rows than harts: any OS thread that has carried a hart may carry one now.
void Helpers::have_members(const TeamPool& team_pool) {
    if (rows_ != nullptr) return;
    team_pool_ = &team_pool;
    harts_ = static_cast<unsigned>(weft_hart_limit());
    row_count_ = std::clamp(4 * std::bit_ceil(harts_), 8U, most_rows);
    rows_ = std::make_unique<Row[]>(row_count_);
}

std::uint32_t Helpers::count() const {
    std::uint32_t sum = others_.count();
    // relaxed: a hint
    for (unsigned i = 0; i < row_count_; ++i) sum += rows_[i].count.load(std::memory_order_relaxed);
    return sum;
}

bool Helpers::is_member() {
    const Thread& me = this_thread();
    return me.member && among(*me.members);
}

unsigned Helpers::arrive_among_many(std::uint64_t region, bool in_row) {
    if (!in_row) return 1 + gather(region);
    rows_[this_hart() & (row_count_ - 1)].arrived.count(region);
    return 0;
}

unsigned Helpers::gather(std::uint64_t region) {
    unsigned sum = 0;
    for (unsigned i = 0; i < row_count_; ++i) sum += rows_[i].arrived.take(region);
    return sum;
}

void Helpers::suspend(const Condition& condition, weft_unit* next) {
    Request request{this, condition, {nullptr, nullptr, nullptr, team_pool_, this_thread().slot->number}};
    const weft_status status =
        next == nullptr ? weft_unit_suspend(publish, &request) : weft_context_suspend_to(next, publish, &request);
    if (status != WEFT_OK) [[unlikely]]
        fatal("cannot wait", status);
    come_back();
}

namespace {

// One member in so many may stand beside none of its neighbours before rows are dealt anew.
constexpr std::uint32_t few = 8;

constexpr std::uint64_t between_deals_ns = 2'000'000;

bool are_neighbours(const Waiting& one, const Waiting& other) {
    return one.number + 1 == other.number || other.number + 1 == one.number;
}

}   // namespace

// Runs on the hart that goes on with something else, as Sleepers::publish does.
void Helpers::publish(weft_unit* unit, void* raw) {
    auto& request = *static_cast<Request*>(raw);
    Helpers& list = *request.list;
    const unsigned hart = this_hart(), number = hart & (list.row_count_ - 1);
    const std::uint64_t bit = std::uint64_t{1} << number;
    Row& row = list.rows_[number];
    row.lock.lock();
    request.waiting.unit = unit;
    Waiting* const before = row.last;
    (before == nullptr ? row.first : before->next) = &request.waiting;
    request.waiting.before = before;
    row.last = &request.waiting;
    row.hart = hart;
    const std::uint32_t breaks = row.breaks;
    if (before != nullptr && !are_neighbours(*before, request.waiting)) ++row.breaks;
    const std::uint32_t count = row.count.load(std::memory_order_relaxed);   // relaxed, all: written under the lock
    row.count.store(count + 1, std::memory_order_relaxed);
    if (count == 0) list.filled_.fetch_or(bit);
    if (!request.condition.holds(request.condition.raw)) return row.lock.unlock();
    (before == nullptr ? row.first : before->next) = nullptr;
    row.last = before;
    row.breaks = breaks;
    row.count.store(count, std::memory_order_relaxed);
    if (count == 0) list.filled_.fetch_and(~bit);
    row.lock.unlock();
    weft_unit_resume(unit);
}

void Helpers::wake_members() {
    Taken taken[most_rows];   // not initialized: mostly two are written, on a stack whose other lines are far
    unsigned rows = 0;
    std::uint32_t all = 0, breaks = 0;
    for (std::uint64_t left = filled_.load(); left != 0; left &= left - 1) {
        Row& row = rows_[std::countr_zero(left)];
        row.lock.lock();
        const std::uint32_t count = row.count.load(std::memory_order_relaxed);   // relaxed, both: as in publish
        taken[rows] = {{row.first, row.last, count}, row.hart};
        row.first = row.last = nullptr;
        row.count.store(0, std::memory_order_relaxed);
        if (count != 0) filled_.fetch_and(~(left & -left));
        breaks += std::exchange(row.breaks, 0);
        row.lock.unlock();
        if (count == 0) continue;
        all += count;
        ++rows;
    }
    if (rows == 0) return;
    if (rows > 1 && breaks > all / few) deal(taken, rows);
    for (unsigned i = 0; i < rows; ++i) make_ready(*team_pool_, taken[i].hart, taken[i].row);
    ask_for_harts(*team_pool_);
}

// For each member it reads and writes what lies on the member's stack, which another hart may have
// near: for 64 members that takes some 10 us. So it is done seldom: where one member has more to do
// than others, members change harts at each barrier.
void Helpers::deal(Taken* rows, unsigned count) {
    if (!dealing_.try_lock()) return;   // another thread wakes some as well: it is not worth waiting for
    const std::uint64_t now = weft_now_ns();
    if (now < next_deal_ns_) return dealing_.unlock();
    next_deal_ns_ = now + between_deals_ns;
    dealt_.clear();
    for (unsigned i = 0; i < count; ++i) {
        for (Waiting* one = rows[i].row.first; one != nullptr; one = one->next) dealt_.push_back(one);
    }
    std::sort(dealt_.begin(), dealt_.end(),
              [](const Waiting* one, const Waiting* other) { return one->number < other->number; });
    auto from = dealt_.begin();
    for (unsigned i = 0; i < count; ++i) {
        const auto to = from + rows[i].row.count;
        if (i % 2 != 0) std::reverse(from, to);
        rows[i].row.first = *from;
        for (Waiting* before = nullptr; from != to; before = *from++) {
            (*from)->before = before;
            (*from)->next = from + 1 == to ? nullptr : from[1];
        }
        rows[i].row.last = to[-1];
    }
    dealing_.unlock();
}

bool Helpers::wake_member() {
    for (std::uint64_t left = filled_.load(); left != 0; left &= left - 1) {
        Row& row = rows_[std::countr_zero(left)];
        row.lock.lock();
        Waiting* const first = row.first;
        if (first != nullptr) {
            row.first = first->next;
            if (row.first == nullptr) row.last = nullptr;
            const std::uint32_t count = row.count.load(std::memory_order_relaxed) - 1;   // relaxed, both: as in publish
            row.count.store(count, std::memory_order_relaxed);
            if (count == 0) filled_.fetch_and(~(left & -left));
        }
        row.lock.unlock();
        if (first == nullptr) continue;
        weft_unit_resume(first->unit);
        return true;
    }
    return false;
}

}   // namespace weft_openmp
