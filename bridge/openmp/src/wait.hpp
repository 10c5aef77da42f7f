// Waiting. A thread of a team looks for a while, as long as nobody lacks a hart, and then suspends:
// others run on its hart.
//
// Whoever waits is a unit of Weft's: a hosted one (a member) or a guest. One that is outside comes
// in for as long as it sleeps.
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
// now. Null: its domain is to decide. By a member of it, which is to leave for that one at once.
weft_unit* next_member(const TeamPool& team_pool);

// Whether contexts are ready that no hart runs, or harts are asked for by others: then to look is
// to take somebody's time.
bool crowded();

// How long it is worth to look before one sleeps.
class SpinBudget {
public:
    bool more() {
        if (looks_ == until_ && (until_ = further(looks_)) == looks_) [[unlikely]]
            return false;
        if ((looks_ & 15) == 0 && crowded()) return false;   // at the first look, and then now and then
        ++looks_;
        relax();
        return true;
    }

    // By default about as long as two switches of the kernel's take; OMP_WAIT_POLICY and
    // GOMP_SPINCOUNT say otherwise, up to `longest`: who looks on the OS thread of thread 0 keeps
    // that from going on.
    static constexpr std::uint64_t usual = 20'000, longest = 2'000'000;
    static inline std::uint64_t most = usual;

private:
    // Some 50 us: what is waited for comes sooner where all harts run. After each of these the
    // kernel may give the processor to another thread.
    static constexpr std::uint64_t overdue = 1'000;

    // How far it goes on from there, by a value: what has an address is written at each look.
    static std::uint64_t further(std::uint64_t looks);

    std::uint64_t looks_ = 0;
    std::uint64_t until_ = std::min(most, overdue);
};

// Makes a unit of the calling thread, where it is none, while this lives.
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

// Those that wait for one thing. What makes a condition true is a sequentially consistent write,
// and wake() comes after it: either the waker sees that somebody waits, or he who is about to sleep
// sees the write in his last look.
//
// A guest's OS thread may carry members while the guest waits. One that blocks in the kernel, or
// spins, until that guest does something would wait there for ever, since nobody else can go on
// with the guest. So it carries them only while the guest has nothing to do before all of them have
// come, to a barrier or to the region's end (lending.hpp).
enum class Until : unsigned char { something, the_barrier, the_end };

struct Condition {
    bool (*holds)(const void* raw);
    const void* raw;
};

class Sleepers {
public:
    explicit constexpr Sleepers(Until until = Until::something) : until_(until) {}

    // Returns once holds() is true. It is called with the list's lock held, too: it may read, and
    // nothing else.
    template <class Holds>
    [[gnu::always_inline]] void wait(const Holds& holds) {
        if (!holds()) [[unlikely]]
            look_and_sleep(holds);
    }

    // `key`: what wake_one(key) means, where a list is several's.
    template <class Holds>
    void sleep(const Holds& holds, const void* key = nullptr) {
        const Inside inside;
        while (!holds())
            suspend(Condition{[](const void* raw) { return (*static_cast<const Holds*>(raw))(); }, &holds}, key);
    }

    // Everybody, to look again.
    void wake() {
        if (count_.load() != 0) [[unlikely]]
            wake_all();
    }
    // Whoever has waited longest; whether there was one.
    bool wake_one(const void* key = nullptr) { return count_.load() != 0 && wake_first(key); }
    bool any() const { return count_.load() != 0; }
    std::uint32_t count() const { return count_.load(); }
    // Those that wait are no more, and neither is who holds the lock.
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

    // By reference: to copy what holds() has captured is to read as one what has just been written
    // word by word, for which the processor waits.
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

// A member that waits, on its stack: what links it to others, also while it is ready (ready.hpp).
struct Waiting {
    weft_unit* unit = nullptr;
    Waiting* next = nullptr;
    Waiting* before = nullptr;   // but of the first of a row
    const TeamPool* team_pool = nullptr;
    unsigned number = 0;   // in its team
};

// Members that wait, linked to each other.
struct WaitingRow {
    Waiting* first;
    Waiting* last;
    std::uint32_t count;
};

// Those of a team that wait for all others, or for the next region. Where a team has more threads
// than there are harts each barrier puts nearly all of them here. So members wait in rows, one for
// each hart, of those that it has run last: to wait writes no memory that another hart writes, and
// a row becomes ready as a whole, without a look at any of those in it. The hart that goes on with
// one resumes it (weft_context_resume), and one that waits leaves for the next one of the row
// itself, where there is one. Thread 0, which may be a guest or any unit of the program's, waits
// apart.
//
// What neighbours work on often shares lines of the cache, so a hart is best off with members of
// consecutive numbers. Rows that have become ready are dealt anew, therefore, when too many members
// stand beside none of their neighbours: each hart gets as many as it had. Every second row runs
// downwards. So the ends of two rows are neighbours, and a hart that is done and takes the last
// member of another's row keeps both in order.
//
// Where members are many they are counted in rows, too, when they arrive somewhere (arrivals.hpp).
// A member that finds no next one of its row adds up what the rows have counted. That comes to pass
// after each arrival: who is next is one of the team as well, and comes here in its turn, whichever
// hart it goes on with.
class Helpers {
public:
    // For a team that has members. Before any of them waits.
    void have_members(const TeamPool& team_pool);
    // That the team has as many threads as this makes its members many.
    bool makes_many(unsigned threads) const { return threads > harts_; }

    // Whether the caller waits in a row: a member, unless it has gone into another domain (an
    // arena, weft_spmd), whose hart knows none of the others.
    static bool is_member();
    // Where members are many, one arrives in that region, at a barrier or at its end. How many are
    // to be added to the team's count: none, where it waits in its row and is counted there; else
    // it brings what the rows have counted, since it may be the next one of some: thread 0 of a
    // team within a team is a member, too.
    unsigned arrive_among_many(std::uint64_t region, bool in_row);
    // As of Sleepers. region: in which those are counted that arrive, 0: in none. gathered(count)
    // is told when so many of them are to be added to the team's count; true: the caller is to look
    // again. Whether it was.
    template <class Holds, class Gathered>
    [[gnu::always_inline]] bool wait(std::uint64_t region, const Holds& holds, const Gathered& gathered) {
        if (!holds()) [[unlikely]]
            return look_and_sleep(region, holds, gathered);
        return false;
    }
    // For what nobody arrives at.
    template <class Holds>
    [[gnu::always_inline]] void wait(const Holds& holds) {
        wait(0, holds, [](unsigned) { return false; });
    }
    void wake() {
        others_.wake();   // the one that may need its own OS thread comes first (Sleepers::wake_all)
        if (filled_.load() != 0) [[unlikely]]
            wake_members();
    }
    bool wake_one() { return (filled_.load() != 0 && wake_member()) || others_.wake_one(); }
    bool any() const { return filled_.load() != 0 || others_.any(); }
    std::uint32_t count() const;
    // As of Sleepers. The next ones may find another number of harts.
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
        std::uint32_t breaks = 0;              // how many stand behind another one than a neighbour of theirs
        std::atomic<std::uint32_t> count{0};   // read by others, too
        unsigned hart = 0;                     // that has put the last one here
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

    // A bit for each row that is not empty; changed under the row's lock. seq_cst, as the loads of
    // it: who makes a condition true looks here then, and a member looks at the condition when it
    // has its place in a row whose bit is set.
    std::atomic<std::uint64_t> filled_{0};
    Sleepers others_{Until::the_barrier};
    SpinLock dealing_;   // guards the next two
    std::uint64_t next_deal_ns_ = 0;
    std::vector<Waiting*> dealt_;
    alignas(64) std::unique_ptr<Row[]> rows_;   // apart from what those that wait write: these do not change
    unsigned row_count_ = 0;                    // a power of two
    unsigned harts_ = ~0U;                      // that there are at most; without members nobody is many
    const TeamPool* team_pool_ = nullptr;
};

}   // namespace weft_openmp
