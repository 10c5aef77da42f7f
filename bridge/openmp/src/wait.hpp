// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waiting. A thread of a team spins for a while, as long as no hart is lacking, and then suspends:
// other contexts run on its hart.
//
// A waiter is a Weft unit: a hosted one (a member), a native one or a guest. An OS thread that is
// outside enters for as long as it sleeps.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <weft/guest.h>
#include <weft/unit.h>

#include "../../common/spin_lock.hpp"
#include "arrivals.hpp"

namespace weft_openmp {

using weft_bridge::relax;
using weft_bridge::SpinLock;

struct TeamPool;

// The member of that team pool that the calling hart is to go on with, if another one of them waits
// now. Null: the domain is to decide. Called by a member of that team pool, which is to leave for
// the returned one at once.
weft_unit* next_member(const TeamPool& team_pool);

// Whether contexts are ready that no hart runs, or others ask for harts: then spinning takes the
// time of another thread.
bool crowded();

// How long it is worth spinning before a sleep.
class SpinBudget {
public:
    bool more() {
        if (looks_ == until_ && (until_ = further(looks_)) == looks_) [[unlikely]]
            return false;
        if ((looks_ & 15) == 0 && crowded()) return false;   // at the first turn, and then now and then
        ++looks_;
        relax();
        return true;
    }

    // By default about as long as two switches by the kernel take. OMP_WAIT_POLICY and
    // GOMP_SPINCOUNT say otherwise, up to `longest`: a member that spins on the OS thread of thread
    // 0 keeps thread 0 from going on.
    static constexpr std::uint64_t usual = 20'000, longest = 2'000'000;
    static inline std::uint64_t most = usual;

private:
    // Some 50 us: what a thread waits for comes sooner where all harts run. After each such time
    // the kernel may give the processor to another thread.
    static constexpr std::uint64_t overdue = 1'000;

    // How far it spins from there. Returns a value: a word that has an address is written at each
    // turn.
    static std::uint64_t further(std::uint64_t looks);

    std::uint64_t looks_ = 0;
    std::uint64_t until_ = std::min(most, overdue);
};

// Makes the calling thread a unit, where it is none, while this object lives.
class Inside {
public:
    Inside() : entered_(weft_unit_self() == nullptr && weft_guest_enter() == WEFT_OK) {}
    ~Inside() {
        if (entered_) weft_guest_leave();
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

private:
    const bool entered_;
};

// The waiters for one thing. What makes a condition true is a sequentially consistent write, and
// wake() comes after it: either the waker sees that a thread waits, or a thread that is about to
// sleep sees the write in its last check.
//
// A guest's OS thread may carry members while the guest waits. A member that blocks in the kernel
// there, or spins, until that guest does something would wait forever, since no other OS thread can
// resume the guest. So the thread carries members only while the guest has nothing to do before all
// of them have arrived, at a barrier or at the region's end (lending.hpp).
enum class Until : unsigned char { something, the_barrier, the_end };

struct Condition {
    bool (*holds)(const void* raw);
    const void* raw;
};

class Sleepers {
public:
    explicit constexpr Sleepers(Until until = Until::something) : until_(until) {}

    // Returns once holds() is true. holds() is called with the list's lock held, too: it may read,
    // and nothing else.
    template <class Holds>
    [[gnu::always_inline]] void wait(const Holds& holds) {
        if (!holds()) [[unlikely]]
            look_and_sleep(holds);
    }

    // `key`: what wake_one(key) means, where several objects share a list.
    template <class Holds>
    void sleep(const Holds& holds, const void* key = nullptr) {
        const Inside inside;
        while (!holds())
            suspend(Condition{[](const void* raw) { return (*static_cast<const Holds*>(raw))(); }, &holds}, key);
    }

    // Wakes all waiters, to check again.
    void wake() {
        if (count_.load() != 0) [[unlikely]]
            wake_all();
    }
    // Wakes the waiter that has waited longest; returns whether there was one.
    bool wake_one(const void* key = nullptr) { return count_.load() != 0 && wake_first(key); }
    bool any() const { return count_.load() != 0; }
    std::uint32_t count() const { return count_.load(); }
    // The waiters no longer exist, and neither does the holder of the lock.
    void forget() {
        first_ = last_ = nullptr;
        count_.store(0);
        lock_.unlock();
    }

private:
    struct Sleeper {
        weft_unit* unit = nullptr;
        const void* key = nullptr;
        bool lends = false;   // a guest whose OS thread carries members meanwhile
        Sleeper* next = nullptr;
    };
    struct Request {
        Sleepers* list;
        Condition condition;
        Sleeper sleeper;
    };

    // By reference: a copy of what holds() has captured would read as one what has just been
    // written word by word, for which the processor waits.
    template <class Holds>
    [[gnu::noinline]] void look_and_sleep(const Holds& holds) {
        for (SpinBudget budget; budget.more();) {
            if (holds()) return;
        }
        sleep(holds);
    }
    void suspend(Condition condition, const void* key);
    static void publish(weft_unit* unit, void* raw);
    void wake_all();
    bool wake_first(const void* key);

    std::atomic<std::uint32_t> count_{0};
    const Until until_;
    SpinLock lock_;
    Sleeper* first_ = nullptr;
    Sleeper* last_ = nullptr;
};

// A member that waits, on its stack: what links it to other members, also while it is ready
// (ready.hpp).
struct Waiting {
    weft_unit* unit = nullptr;
    Waiting* next = nullptr;
    Waiting* before = nullptr;   // except in the first of a row
    const TeamPool* team_pool = nullptr;
    unsigned number = 0;   // in its team
};

// Members that wait, linked to each other.
struct WaitingRow {
    Waiting* first;
    Waiting* last;
    std::uint32_t count;
};

// The members of a team that wait for all others, or for the next region. Where a team has more
// threads than there are harts each barrier puts nearly all of them here. So members wait in rows,
// one for each hart, of those that it has run last. To wait writes no memory that another hart
// writes, and a row becomes ready as a whole, without access to any member in it. The hart that
// goes on with a member resumes it (weft_context_resume), and a member that waits leaves for the
// next one of the row itself, where there is one. Thread 0, which may be a guest or any unit of the
// program, waits apart.
//
// What neighbours work on often shares cache lines, so a hart is best off with members of
// consecutive numbers. Rows that have become ready are therefore dealt anew when too many members
// stand beside none of their neighbours: each hart gets as many as it had. Every second row runs
// downwards. So the ends of two rows are neighbours, and a hart that is done and takes the last
// member of another hart's row keeps both rows in order.
//
// Where members are many, their arrivals are counted in rows, too (arrivals.hpp). A member that
// finds no next one in its row adds up what the rows have counted. That comes to pass after each
// arrival: the next one belongs to the team as well, and gets here in its turn, whichever hart goes
// on with it.
class Helpers {
public:
    // For a team that has members. Called before any of them waits.
    void have_members(const TeamPool& team_pool);
    // Whether the members of a team with that many threads are many.
    bool makes_many(unsigned threads) const { return threads > harts_; }

    // Whether the caller waits in a row: a member does, unless it has entered another domain (an
    // arena, weft_spmd), whose hart knows no other member.
    static bool is_member();
    // Where members are many, one arrives in that region, at a barrier or at its end. Returns how
    // many are to be added to the team's count. None, where the member waits in its row and is
    // counted there. Otherwise it brings what the rows have counted, since it may be the next one
    // in some of them: thread 0 of a team within a team is a member, too.
    unsigned arrive_among_many(std::uint64_t region, bool in_row);
    // As Sleepers::wait. region: the one in which arriving members are counted; 0: they are not
    // counted. gathered(count) is called when so many are to be added to the team's count; true:
    // the caller is to check again. Returns whether it was true.
    template <class Holds, class Gathered>
    [[gnu::always_inline]] bool wait(std::uint64_t region, const Holds& holds, const Gathered& gathered) {
        if (!holds()) [[unlikely]]
            return look_and_sleep(region, holds, gathered);
        return false;
    }
    // For waits that count no arrivals.
    template <class Holds>
    [[gnu::always_inline]] void wait(const Holds& holds) {
        wait(0, holds, [](unsigned) { return false; });
    }
    void wake() {
        others_.wake();   // the waiter that may need its own OS thread comes first (Sleepers::wake_all)
        if (filled_.load() != 0) [[unlikely]]
            wake_members();
    }
    bool wake_one() { return (filled_.load() != 0 && wake_member()) || others_.wake_one(); }
    bool any() const { return filled_.load() != 0 || others_.any(); }
    std::uint32_t count() const;
    // As Sleepers::forget. The next members may find another number of harts.
    void forget() {
        others_.forget();
        filled_.store(0);
        rows_.reset();
        row_count_ = 0;
        harts_ = ~0U;
    }

private:
    struct alignas(64) Row {
        SpinLock lock;   // guards what follows
        Waiting* first = nullptr;
        Waiting* last = nullptr;
        std::uint32_t breaks = 0;              // members that stand behind one that is no neighbour of theirs
        std::atomic<std::uint32_t> count{0};   // other harts read it, too
        unsigned hart = 0;                     // the one that has put the last member here
        Arrivals arrived;                      // of members that this hart runs
    };
    struct Request {
        Helpers* list;
        Condition condition;
        Waiting waiting;
    };
    static constexpr unsigned most_rows = 64;
    struct Taken {
        WaitingRow row;
        unsigned hart;
    };

    template <class Holds, class Gathered>
    [[gnu::noinline]] bool look_and_sleep(std::uint64_t region, const Holds& holds, const Gathered& gathered) {
        const bool member = is_member(), counted = member && region != 0;
        const Condition condition{[](const void* raw) { return (*static_cast<const Holds*>(raw))(); }, &holds};
        bool patient = true;
        do {
            weft_unit* const next = counted ? next_member(*team_pool_) : nullptr;
            if (next == nullptr) {
                if (counted) {
                    if (const unsigned count = gather(region); count != 0 && gathered(count)) return true;
                }
                if (std::exchange(patient, false)) {
                    for (SpinBudget budget; budget.more();) {
                        if (holds()) return false;
                    }
                }
                if (!member) {
                    others_.sleep(holds);
                    return false;
                }
            }
            suspend(condition, next);
        } while (!holds());
        return false;
    }
    unsigned gather(std::uint64_t region);
    void suspend(const Condition& condition, weft_unit* next);
    static void publish(weft_unit* unit, void* raw);
    void wake_members();
    bool wake_member();
    void deal(Taken* rows, unsigned count);

    // A bit for each row that is not empty; changed under the row's lock. seq_cst, as its loads: a
    // thread that makes a condition true reads it afterwards, and a member checks the condition
    // when it has its place in a row whose bit is set.
    std::atomic<std::uint64_t> filled_{0};
    Sleepers others_{Until::the_barrier};
    SpinLock dealing_;   // guards the next two
    std::uint64_t next_deal_ns_ = 0;
    std::vector<Waiting*> dealt_;
    alignas(64) std::unique_ptr<Row[]> rows_;   // apart from what waiters write: these do not change
    unsigned row_count_ = 0;                    // a power of two
    unsigned harts_ = ~0U;                      // the most that there are; without members none are many
    const TeamPool* team_pool_ = nullptr;
};

}   // namespace weft_openmp
