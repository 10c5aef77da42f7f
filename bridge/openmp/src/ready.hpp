// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ready contexts, and which hart goes on with which.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <weft/unit.h>

#include "wait.hpp"

namespace weft_openmp {

struct NothingBetween {
    static void lines() {}
};

// Each hart has a line, of the contexts that it has run last, since their data is near it. A line
// is first in, first out, so a context that yields comes after all others. A hart whose line is
// empty takes from other lines. Now and then a hart checks whether a context elsewhere has been
// ready for much longer than its own: the hart of that context may not come again.
//
// `Between::lines()` is called between the checks of two lines: a test moves contexts there.
template <class Between = NothingBetween>
class BasicReady {
public:
    static constexpr unsigned most_harts = 64;   // more share lines

    void push(weft_unit* context) {
        unsigned hart = 0;
        // acquire: pairs with the store in pop
        const std::uint64_t noted = note_of(context).load(std::memory_order_acquire);
        if (noted >> hart_bits == reinterpret_cast<std::uintptr_t>(context) >> line_bits)
            hart = static_cast<unsigned>(noted & (most_harts - 1));
        // relaxed: a number
        lines_[hart].push({context, stamps_.fetch_add(1, std::memory_order_relaxed)}, filled_lines_);
    }
    // A row of contexts that have waited, which the hart of that number has run last.
    void push_row(unsigned hart, const WaitingRow& row) {
        // relaxed: a number
        lines_[hart].push({nullptr, stamps_.fetch_add(row.count, std::memory_order_relaxed), row.first, row.last},
                          filled_lines_);
    }
    // Called by the hart of that number.
    weft_unit* pop(unsigned hart) {
        Line& own = lines_[hart];
        // relaxed: it only grows
        if (hart >= known_lines_.load(std::memory_order_relaxed)) raise_known_lines(hart + 1);
        weft_unit* context =
            ++own.turns % turns_between_looks == 0 && is_behind(own) ? nullptr : own.pop(End::front, filled_lines_);
        for (unsigned vain = 0; context == nullptr;) {
            if (Line* const line = with_oldest()) {
                // null: another hart was there first
                context = line->pop(line == &own ? End::front : End::back, filled_lines_);
                continue;
            }
            // The lines are checked one by one, and a hart that yields a context and goes on with
            // another one asks for no second hart. So a context may enter a line that this hart has
            // passed, while the one further on is taken. As long as any line has a context, this
            // hart checks again; but not forever, since a pusher may have lost its CPU between its
            // two writes. That pusher then asks for a hart or checks here itself.
            if (!any() || ++vain == most_vain) return nullptr;
        }
        note(context, hart);
        return context;
    }
    // Called by the hart of that number: the first context of its line, if that is in a row of that
    // team pool. Null: pop is to be asked, as it is each sixteenth time at least.
    weft_unit* next_of_row(unsigned hart, const TeamPool& team_pool) {
        Line& own = lines_[hart];
        if (own.turns % turns_between_looks == turns_between_looks - 1) return nullptr;
        weft_unit* const context = own.pop_of_row(team_pool, filled_lines_);
        if (context != nullptr) ++own.turns;   // its note is right: it has waited where it ran
        return context;
    }
    // Called by the hart of that number: the first context that fits, of its own line or else of
    // another. It does not check which one has waited longest, as pop does: harts that call this
    // come and go.
    template <class Fits>
    weft_unit* pop_fitting(unsigned hart, Fits fits) {
        ++lines_[hart].turns;
        // relaxed: it only grows
        if (hart >= known_lines_.load(std::memory_order_relaxed)) raise_known_lines(hart + 1);
        weft_unit* context = lines_[hart].pop_fitting(End::front, fits, filled_lines_);
        const unsigned used = known_lines_.load(std::memory_order_relaxed);
        for (unsigned i = 0; i < used && context == nullptr; ++i)
            context = lines_[i].pop_fitting(End::back, fits, filled_lines_);
        if (context != nullptr) note(context, hart);
        return context;
    }
    // Called by the hart of that number, which takes only contexts that fit: whether another
    // context has been ready for so long that very many have come since. It checks each sixteenth
    // time.
    bool one_waits_in_vain(unsigned hart) const {
        if (lines_[hart].turns % turns_between_looks != 0) return false;
        const Line* const oldest = with_oldest();
        // relaxed: a number
        return oldest != nullptr && stamps_.load(std::memory_order_relaxed) - oldest->oldest() > in_vain;
    }
    // A word that stays as it is while contexts come and go, so that a hart that reads it has it
    // near.
    bool any() const { return filled_lines_.load(std::memory_order_relaxed) != 0; }   // relaxed: a hint

private:
    static constexpr unsigned most_vain = 64;
    static constexpr unsigned turns_between_looks = 16;
    static constexpr std::uint64_t behind = 256;   // so many contexts have become ready since
    // its consequence costs a wake-up by the kernel, and in regions within regions some contexts
    // wait for more than 256 others
    static constexpr std::uint64_t in_vain = 16 * behind;

    // A context, or a row of contexts.
    struct Entry {
        weft_unit* context;
        std::uint64_t stamp;
        Waiting* row = nullptr;    // the first of the row
        Waiting* last = nullptr;   // and its last
    };
    // The end of a row: its own hart takes from the front, other harts from the back, where their
    // own rows may follow (Helpers).
    enum class End : unsigned char { front, back };
    static constexpr std::uint64_t nothing = ~std::uint64_t{0};

    class alignas(128) Line {
    public:
        unsigned turns = 0;   // of the hart that pops here as its own: need not be exact

        void push(Entry entry, std::atomic<unsigned>& filled_lines) {
            lock_.lock();
            if (count_ == ring_.size()) grow();
            ring_[(first_ + count_++) % ring_.size()] = entry;
            if (count_ == 1) {
                filled_lines.fetch_add(1, std::memory_order_relaxed);   // relaxed: a hint
                show();
            }
            lock_.unlock();
        }
        weft_unit* pop(End end, std::atomic<unsigned>& filled_lines) {
            if (oldest() == nothing) return nullptr;
            lock_.lock();
            weft_unit* context = nullptr;
            if (count_ != 0) context = take_first(end, filled_lines);
            lock_.unlock();
            return context;
        }
        weft_unit* pop_of_row(const TeamPool& team_pool, std::atomic<unsigned>& filled_lines) {
            if (oldest() == nothing) return nullptr;
            lock_.lock();
            weft_unit* context = nullptr;
            if (count_ != 0 && ring_[first_].row != nullptr && ring_[first_].row->team_pool == &team_pool)
                context = take_first(End::front, filled_lines);
            lock_.unlock();
            return context;
        }
        template <class Fits>
        weft_unit* pop_fitting(End end, Fits fits, std::atomic<unsigned>& filled_lines) {
            if (oldest() == nothing) return nullptr;
            lock_.lock();
            weft_unit* context = nullptr;
            for (std::size_t at = 0; at < count_ && context == nullptr; ++at) {
                Entry& here = entry(at);
                if (here.row != nullptr) context = take_fitting(here, end, fits);
                else if (fits(here.context)) context = here.context;
                if (context == nullptr || here.row != nullptr) continue;
                for (; at != 0; --at) entry(at) = entry(at - 1);
                drop_first(filled_lines);
                break;
            }
            lock_.unlock();
            return context;
        }
        // The stamp of the first one. relaxed: a hint; a hart that comes too early is notified by
        // the request (weft_domain_request) that follows the push
        std::uint64_t oldest() const { return oldest_.load(std::memory_order_relaxed); }

    private:
        Entry& entry(std::size_t at) { return ring_[(first_ + at) % ring_.size()]; }
        weft_unit* take_first(End end, std::atomic<unsigned>& filled_lines) {
            Entry& first = ring_[first_];
            weft_unit* context = first.context;
            if (first.row != first.last) {
                // The Waiting lies on its context's stack.
                if (end == End::front) return std::exchange(first.row, first.row->next)->unit;
                return std::exchange(first.last, first.last->before)->unit;
            }
            if (first.row != nullptr) context = first.row->unit;
            drop_first(filled_lines);
            return context;
        }
        // Takes one out of a row; the last one taken leaves it empty.
        template <class Fits>
        static weft_unit* take_fitting(Entry& row, End end, Fits fits) {
            for (Waiting* one = end == End::front ? row.row : row.last;;
                 one = end == End::front ? one->next : one->before) {
                if (fits(one->unit)) {
                    take_out(row, *one);
                    return one->unit;
                }
                if (one == (end == End::front ? row.last : row.row)) return nullptr;
            }
        }
        static void take_out(Entry& row, const Waiting& one) {
            if (row.row == row.last) {
                row.row = row.last = nullptr;
            } else if (&one == row.row) {
                row.row = one.next;
            } else if (&one == row.last) {
                row.last = one.before;
            } else {
                one.before->next = one.next;
                one.next->before = one.before;
            }
        }
        void drop_first(std::atomic<unsigned>& filled_lines) {
            first_ = (first_ + 1) % ring_.size();
            if (--count_ == 0) filled_lines.fetch_sub(1, std::memory_order_relaxed);   // relaxed: a hint
            show();
        }
        // relaxed: a hint
        void show() { oldest_.store(count_ == 0 ? nothing : ring_[first_].stamp, std::memory_order_relaxed); }
        void grow() {
            std::vector<Entry> larger(ring_.empty() ? 64 : 2 * ring_.size());
            for (std::size_t i = 0; i < count_; ++i) larger[i] = ring_[(first_ + i) % ring_.size()];
            ring_.swap(larger);
            first_ = 0;
        }

        std::atomic<std::uint64_t> oldest_{nothing};
        SpinLock lock_;
        std::vector<Entry> ring_;
        std::size_t first_ = 0, count_ = 0;
    };

    // Which hart has run a context last, in a word that the context's address selects: another
    // context may have overwritten it.
    static constexpr unsigned hart_bits = 6, line_bits = 6, notes = 1024;
    static_assert(most_harts == 1U << hart_bits);
    std::atomic<std::uint64_t>& note_of(const weft_unit* context) {
        const auto address = reinterpret_cast<std::uintptr_t>(context) >> line_bits;
        return notes_[(address ^ address >> 10) % notes];
    }
    void note(weft_unit* context, unsigned hart) {
        const std::uint64_t word = reinterpret_cast<std::uintptr_t>(context) >> line_bits << hart_bits | hart;
        std::atomic<std::uint64_t>& noted = note_of(context);
        // Mostly the note is there already, beside notes that other harts read. relaxed: only a
        // hart of this number has written that value. release: a thread that pushes into the line
        // of this hart comes after known_lines_ was raised
        if (noted.load(std::memory_order_relaxed) != word) noted.store(word, std::memory_order_release);
    }
    // Whether another context has waited for so long that its hart has had several turns' time.
    bool is_behind(const Line& own) const {
        const Line* const oldest = with_oldest();
        return oldest != nullptr && oldest != &own && own.oldest() - oldest->oldest() > behind;
    }
    Line* with_oldest() const {
        Line* found = nullptr;
        std::uint64_t least = nothing;
        // relaxed: a hart's line is not used before the hart has popped there once
        const unsigned used = known_lines_.load(std::memory_order_relaxed);
        for (unsigned i = 0; i < used; ++i) {
            if (const std::uint64_t stamp = lines_[i].oldest(); stamp < least) {
                least = stamp;
                found = &lines_[i];
            }
            Between::lines();
        }
        return found;
    }
    void raise_known_lines(unsigned to) {
        unsigned used = known_lines_.load(std::memory_order_relaxed);
        // relaxed, both: it only grows
        while (used < to && !known_lines_.compare_exchange_weak(used, to, std::memory_order_relaxed)) {}
    }

    mutable Line lines_[most_harts];
    std::atomic<std::uint64_t> notes_[notes] = {};
    alignas(64) std::atomic<std::uint64_t> stamps_{0};
    std::atomic<unsigned> known_lines_{1};
    alignas(64) std::atomic<unsigned> filled_lines_{0};   // lines that have contexts
};
using Ready = BasicReady<>;

}   // namespace weft_openmp
