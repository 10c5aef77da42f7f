// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "shown.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <mutex>

#include <weft/guest.h>
#include <weft/trace.h>

#include "team.hpp"

namespace weft_openmp {

// All records, by the keys under which they are found. Guarded by the lock, whose holder neither
// switches nor waits.
class Lists {
public:
    static constexpr std::size_t size = 1024;

    static Shown*& by_unit(const weft_unit* unit) {
        return lists[(reinterpret_cast<std::uintptr_t>(unit) >> 7) % size];   // descriptors have 128 bytes
    }
    static Shown*& by_thread(std::uint32_t number) { return lists[number % size]; }
    static const Thread* find(const weft_unit* unit, std::uint32_t os_thread) {
        const auto is_that = [=](const Shown& one) { return one.os_thread_ == os_thread; };
        if (os_thread != 0) return find(by_thread(os_thread), is_that);
        // relaxed: the record may pass to another unit at this moment anyway
        const auto fits = [=](const Shown& one) {
            return one.os_thread_ == 0 && one.unit_.load(std::memory_order_relaxed) == unit;
        };
        const Thread* const found = find(by_unit(unit), fits);
        return found != nullptr ? found : find(roaming, fits);
    }

    static SpinLock lock;
    static Shown* lists[size];
    static Shown* roaming;   // records that belong to one unit after the other

private:
    template <class Fits>
    static const Thread* find(const Shown* first, Fits fits) {
        for (const Shown* one = first; one != nullptr; one = one->next_) {
            if (fits(*one)) return &one->thread_;
        }
        return nullptr;
    }
};
constinit SpinLock Lists::lock;
constinit Shown* Lists::lists[size] = {};
constinit Shown* Lists::roaming = nullptr;

namespace {

// Reads, by copies alone, what other threads may change or free at this moment.
class Copies {
public:
    explicit Copies(const weft_description& by) : by_(by) {}
    template <class From, class To>
    [[nodiscard]] bool take(const From& from, To& to) const {
        static_assert(sizeof from == sizeof to);   // an atomic has the bytes of its value
        return by_.peek(&from, &to, sizeof to) == sizeof to;
    }

private:
    const weft_description& by_;
};

constexpr unsigned most_levels = 8;   // levels shown for one unit

void describe(const weft_description* of, void*) {
    const Copies copies(*of);
    const Team* team = nullptr;
    const Slot* slot = nullptr;
    {
        std::lock_guard guard(Lists::lock);   // keeps the record
        const Thread* const thread = Lists::find(of->unit, of->os_thread);
        if (thread == nullptr || !copies.take(thread->team, team) || !copies.take(thread->slot, slot)) return;
    }
    const char* before = "OpenMP ";
    std::size_t at = 0;
    for (unsigned i = 0; i < most_levels && team != nullptr && slot != nullptr; ++i) {
        unsigned number = 0, size = 0, level = 0;
        if (!copies.take(slot->number, number) || !copies.take(team->size, size)) return;
        if (!copies.take(team->level, level) || level == 0) return;
        const int bytes = std::snprintf(of->text + at, of->bytes - at, "%sthread %u of %u, level %u, team %p", before,
                                        number, size, level, static_cast<const void*>(team));
        if (bytes < 0 || static_cast<std::size_t>(bytes) >= of->bytes - at) {
            of->text[at] = '\0';   // as many levels as there is room for
            return;
        }
        at += static_cast<std::size_t>(bytes);
        before = " in ";
        const Team* const inner = team;
        if (!copies.take(inner->outer, team) || !copies.take(inner->outer_slot, slot)) return;
    }
}

}   // namespace

Shown::Shown(const Thread& thread) : thread_(thread) {
    // Without memory for this, units are shown as those of other libraries are.
    [[maybe_unused]] static const bool added = weft_describer_register(describe, nullptr) == WEFT_OK;
    weft_unit* const self = weft_unit_self();
    const bool of_unit = self != nullptr && self != weft_guest_here();
    if (of_unit) unit_.store(self, std::memory_order_relaxed);   // relaxed: the lock publishes
    else os_thread_ = static_cast<std::uint32_t>(syscall(SYS_gettid));
    std::lock_guard guard(Lists::lock);
    enlist(of_unit ? Lists::by_unit(self) : Lists::by_thread(os_thread_));
}

void Shown::enlist(Shown*& first) {
    next_ = first;
    if (next_ != nullptr) next_->at_ = &next_;
    at_ = &first;
    first = this;
}

void Shown::hide() {
    std::lock_guard guard(Lists::lock);
    if (at_ == nullptr) return;
    *at_ = next_;
    if (next_ != nullptr) next_->at_ = at_;
    at_ = nullptr;
}

void Shown::belong_to_this_unit() {
    if (!roams_) {
        hide();
        std::lock_guard guard(Lists::lock);
        roams_ = true;
        os_thread_ = 0;
        enlist(Lists::roaming);
    }
    // relaxed: to a reader at this moment both units are right
    unit_.store(weft_unit_self(), std::memory_order_relaxed);
}

// relaxed: to a reader at this moment both the unit and null are right
void Shown::belong_to_nobody() { unit_.store(nullptr, std::memory_order_relaxed); }

void Shown::forget_all() {
    Lists::lock.unlock();   // the thread that may have held it is gone
    for (Shown*& first : Lists::lists) {
        if (first != nullptr) first = nullptr;   // a page that is not written is not copied
    }
    Lists::roaming = nullptr;
}

void Shown::each(void (*call)(Thread& thread)) {
    std::lock_guard guard(Lists::lock);
    const auto each_of = [call](const Shown* one) {
        for (; one != nullptr; one = one->next_) call(const_cast<Thread&>(one->thread_));
    };
    for (const Shown* first : Lists::lists) each_of(first);
    each_of(Lists::roaming);
}

// A hosted unit that has forked goes on as the same unit.
void Shown::begin_anew() {
    if (os_thread_ != 0) os_thread_ = static_cast<std::uint32_t>(syscall(SYS_gettid));
    roams_ = false;
    weft_unit* const unit = unit_.load(std::memory_order_relaxed);   // relaxed: there is one thread
    enlist(os_thread_ != 0 ? Lists::by_thread(os_thread_) : Lists::by_unit(unit));
}

}   // namespace weft_openmp
