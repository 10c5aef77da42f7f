// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stream: runs units on the OS thread that is its carrier. Everything that is not marked
// otherwise belongs to the carrier alone, on whatever stack it runs; a unit that has switched must
// call current() again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "arch/look.hpp"
#include "base/atomic.hpp"
#include "context/switch.hpp"
#include "mem/slab.hpp"
#include "mem/stack.hpp"
#include "os/local.hpp"
#include "poll/posts.hpp"
#include "poll/timers.hpp"
#include "process/asked.hpp"
#include "process/carrier_thread.hpp"
#include "process/ending.hpp"
#include "process/job_types.hpp"
#include "process/levels.hpp"
#include "process/loop_state.hpp"
#include "process/role.hpp"
#include "process/sampled.hpp"
#include "process/scarcity.hpp"
#include "process/serving.hpp"
#include "process/sleep.hpp"
#include "process/spawning.hpp"
#include "process/telling.hpp"
#include "process/turn.hpp"
#include "sched/sched.hpp"
#include "trace/counters.hpp"
#include "unit/extras.hpp"
#include "unit/unit.hpp"
#include "weft/embed/here.h"

namespace weft {

struct Process;

// What one stream allocates from. Streams come and go; heaps stay, so that memory freed elsewhere
// finds its way back.
struct Heap {
    mem::SlabCache* units;
    mem::SlabCache* extras;
    mem::StackCache stacks;
    std::uint64_t next_id;   // the heap's number is in the upper 16 bits, so that no two heaps give the same id
    Heap* next_idle = nullptr;
    // of the stream that has the heap; here because they may be cancelled after the stream has
    // ended
    Timers timers;

    Heap(mem::SlabCache* of_units, mem::SlabCache* of_extras, mem::StackStore& store, std::uint64_t rank)
        : units(of_units), extras(of_extras), stacks(store), next_id((rank << 48) + 1) {}
};

struct Nothing {};
struct Nobody {
    const Unit* unit = nullptr;   // in the place where others read the running unit: they must call a function
};

struct Stream {
    // First, and public: programs reach both through the word that leads to the stream
    // (include/weft/embed/here.h).
    OwnJobs jobs;
    // in checked builds handles are no addresses
    [[no_unique_address]] std::conditional_t<config::checked, Nobody, Nothing> instead;

    // Hot: each switch reads it, or each spawn and join. The assertions at the end of this file say
    // what lies in one line.
    Unit* running = nullptr;   // null while the scheduler runs
    // the main pool, if picking is popping from it: a single private pool under a basic scheduler,
    // on a stream with no other place to check
    PrivatePool* direct = nullptr;
    // the main pool, if picking begins with it and other streams draw from it too: a single shared
    // pool under a basic scheduler, or a deque under one that steals; never set beside direct
    Pool* common = nullptr;
    alignas(config::cache_line) mem::SlabCache* units = nullptr;   // of the heap
    atomic<std::uint64_t> next_id{0};                              // of the heap, while the stream has it; see take_id
    mem::Stack* reserve = nullptr;   // for the scheduler to begin anew on, when a unit has taken its stack
    // default stacks, without a canary, for the next plain units that start: one, and more only
    // while units call each other. A unit that ends puts its own stack here while it still runs on
    // it: only this stream takes it
    mem::Stack* spare = nullptr;
    Unit* next_unit = nullptr;   // picked by a unit that left; the scheduler runs it
    Sched* sched = nullptr;      // whose units run: the main scheduler, or one that is itself a unit (level.hpp)
    Pool* standard = nullptr;    // where units go that name no pool
    // the direct pool while a ULT runs, else an empty one: a join or wait checks the pool's first
    // unit, and need not check whether its caller is a ULT
    PrivatePool* inline_pool = &no_pool;
    // `inline_pool` where the unit that runs has forked: then `inline_pool` is empty
    PrivatePool* inline_pool_without_jobs = nullptr;
    // where units bound to the stream wait, when no pool of its main scheduler is theirs
    PrivatePool* own = nullptr;
    bool through_scheduler = false;   // a unit that leaves always goes through the scheduler; see settle_way()
    // its scheduler keeps nothing on its stack: units may take its place; see settle_way()
    bool restartable = false;
    int* errno_address = nullptr;
    os::ExceptionGlobals* exceptions = nullptr;
    Heap* heap = nullptr;
    context::Target sched_context{};   // the scheduler's context while a unit runs, and the stack that it stands on
    trace::Counters counters;
    Spawning spawning;

    // Lukewarm: the loop reads it between two units that come from its pools.
    Loop loop;
    Scarcity scarcity;
    bool holds_hart = false;

    // Rare.
    std::size_t rank = 0;
    // the process it belongs to. In the child of a fork the parent's streams still belong to the
    // parent's process
    Process* const of;
    Levels levels;
    Serving serving;
    Role role;
    Turn turn{this};
    void* data = nullptr;   // the program's
    char name[16] = {};
    CarrierThread carrier;

    // Other threads write what follows. It begins a cache line, so what lies before it stays in the
    // carrier's cache as long as the stream runs.
    alignas(config::cache_line) atomic<std::uint32_t> attention{0};
    Sleep sleep;
    Sampled sampled;
    JobPlace job_place;
    Telling telling;
    atomic<PrivatePool*> bound{nullptr};   // where units bound to the stream wait; null: there have been none
    Posts posts;
    Ending ending;

    explicit Stream(Process& process) : of(&process) {}
    bool only_carries() const { return role.hidden && !role.rescues; }

    static constinit inline PrivatePool no_pool{};   // nothing ever enters it

    // relaxed: only the stream gives ids out; others only read how many.
    [[gnu::always_inline]] std::uint64_t take_id() {
        const std::uint64_t id = next_id.load(std::memory_order_relaxed);
        next_id.store(id + 1, std::memory_order_relaxed);
        return id;
    }

    [[gnu::always_inline]] void keep_spare(mem::Stack* stack) {
        if (stack->next != spare) stack->next = spare;   // it is, for a stack that was taken last
        spare = stack;
    }
    // There must be one.
    [[gnu::always_inline]] mem::Stack* take_spare() {
        mem::Stack* const stack = spare;
        spare = stack->next;
        // a promoted unit ends without returning from the frames that called it
        sanitizer::unpoison(stack->lowest, stack->bytes);
        return stack;
    }

    // The last id that was taken has not been used. relaxed: the stream alone gives ids out
    void untake_id() { next_id.store(next_id.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed); }

    // Created units are counted by the ids given out; runs by how they ended.
    std::uint64_t counted(trace::Count which) const;

    [[gnu::always_inline]] Attention asked(std::memory_order order = std::memory_order_seq_cst) const {
        return {attention.load(order)};
    }

    // True: there is a request; the scheduler serves it. relaxed: a hint, acted upon with acquire
    // in attend().
    [[gnu::always_inline]] bool wanted() const { return !arch::is_zero(attention); }
};

static_assert(offsetof(Stream, jobs) == offsetof(weft_here, jobs) && offsetof(OwnJobs, face) == 0);
static_assert(config::checked ? offsetof(Stream, instead) == offsetof(weft_here, running)
                              : offsetof(Stream, running) == offsetof(weft_here, running));

// What lies in which cache line. A checked build has a word more at the head.
constexpr std::size_t line_of(std::size_t offset) { return config::checked ? 0 : offset / config::cache_line; }
static_assert(line_of(offsetof(Stream, common)) == line_of(offsetof(Stream, jobs)), "what picks the next unit");
static_assert(line_of(offsetof(Stream, inline_pool)) == line_of(offsetof(Stream, units)),
              "what a unit is made of, started and joined with");
static_assert(line_of(offsetof(Stream, sched_context)) == line_of(offsetof(Stream, inline_pool_without_jobs)),
              "what a switch changes, or goes to the scheduler by");
static_assert(line_of(offsetof(Stream, counters)) <= 3, "and all that no later than in the fourth");
static_assert(line_of(offsetof(Stream, spawning.common_header)) == line_of(offsetof(Stream, spawning.ult_home)),
              "what a spawn without options takes over");
static_assert(offsetof(Stream, attention) % config::cache_line == 0 &&
                  offsetof(Stream, loop) < offsetof(Stream, attention),
              "what others write lies apart from what the carrier alone writes");

// The stream of the calling OS thread, or null.
[[gnu::always_inline]] inline Stream* current_or_null() { return static_cast<Stream*>(os::local()); }

[[gnu::always_inline]] inline Stream& current() {
    auto* stream = current_or_null();
    WEFT_ASSERT(stream != nullptr);
    return *stream;
}

// Whether no unit waits in the stream's own pool, whose units have their turns.
[[gnu::always_inline]] inline bool none_bound(const Stream& stream) {
    const PrivatePool* const own = stream.own;
    return own == nullptr || (own->ready.empty() && own->inbox.empty());
}

// The unit that calls, or null.
inline Unit* running_or_null() {
    auto* stream = current_or_null();
    return stream == nullptr ? nullptr : stream->running;
}

// A unit becomes ready: it goes to its pool. The caller has claimed it. `stream`: the calling one,
// or null.
[[gnu::always_inline]] inline void make_ready(Stream* stream, Unit& unit, pool::From from = pool::From::next) {
    if (stream != nullptr && unit.pool == stream->direct) [[likely]] {
        stream->direct->put(&unit);   // this stream is its owner, and awake: there is no sleeper to wake
    } else {
        pool::push(*unit.pool, &unit, from);
    }
}

inline std::uint64_t Stream::counted(trace::Count which) const {
    using trace::Count;
    // relaxed: a number
    if (which == Count::created)
        return next_id.load(std::memory_order_relaxed) - spawning.first_id.load(std::memory_order_relaxed);
    if (which != Count::run) return counters.read(which);
    return counters.read(Count::finished) + counters.read(Count::suspended) + counters.read(Count::yielded);
}

// Where units without options go by the short way. A stream that is observed has no such homes:
// observers are notified of each of its spawns.
[[gnu::always_inline]] inline void settle_homes(Stream& stream) {
    const auto home_in = [&](Pool* pool) {
        return pool == nullptr || stream.telling.observed ? Spawning::nowhere() : pool;
    };
    // these kinds get their stack at once, or are never called
    const bool full = stream.spawning.default_kind == Kind::full || stream.spawning.default_kind == Kind::hosted;
    stream.spawning.tasklet_home.pool = home_in(stream.direct);
    stream.spawning.ult_home.pool = full ? Spawning::nowhere() : stream.spawning.tasklet_home.pool;
    stream.spawning.common_home = full ? Spawning::nowhere() : home_in(stream.common);
}

// ULTs without options are of that kind from now on. Called from the stream, or before it has
// begun.
inline void set_default_kind(Stream& stream, Kind kind) {
    stream.spawning.default_kind = kind;
    stream.spawning.ult_home.header = Unit::initial_header(kind == Kind::automatic ? Kind::lsa : kind, true);
    stream.spawning.common_header = Unit::initial_header(kind, false);
    // no ready unit has this state
    if (kind == Kind::full || kind == Kind::hosted)
        stream.spawning.ult_home.header.state = static_cast<std::uint8_t>(State::free);
    settle_homes(stream);
}

// Takes back a default stack, without a canary, that no code runs on any more.
inline void give_stack(Stream& stream, mem::Stack* stack) {
    if (stream.spare == nullptr) return stream.keep_spare(stack);
    stream.heap->stacks.give(stack);
}

// Returns the stacks that the stream keeps for starting units to the heap.
inline void give_spares(Stream& stream) {
    while (stream.spare != nullptr) stream.heap->stacks.give(stream.take_spare());
}

// Also returns the stack that the stream keeps for itself.
inline void give_stacks(Stream& stream) {
    give_spares(stream);
    if (mem::Stack* reserve = std::exchange(stream.reserve, nullptr)) stream.heap->stacks.give(reserve);
}

// The stream has the hart of a domain that the unit is no context of. Such a unit does not run
// there: nothing would keep the domain meanwhile, and what the unit spawned would become the
// domain's.
bool is_out_of_place_in_domain(const Stream& stream, const Unit& unit);
inline bool is_out_of_place(const Stream& stream, const Unit& unit) {
    return stream.through_scheduler && is_out_of_place_in_domain(stream, unit);
}

// There is a request that the stream must not sleep over.
bool has_pending_attention(const Stream& stream);
// The bits that it must not sleep over, also where another stream is to serve them.
Attention pending_attention_of(const Stream& stream);

// Sets bits of the stream's attention and wakes it.
void ask(Stream& stream, Attention bits);
void unask(Stream& stream, Attention bits);

// For an OS thread that publishes something for the stream and wakes it afterwards: the stream
// object stays until then, though what runs there may have ended.
class Waking {
public:
    explicit Waking(Stream& stream) : stream_(stream) { stream_.ending.wakers.fetch_add(1); }
    ~Waking() { stream_.ending.wakers.fetch_sub(1); }   // the last touch
    Waking(const Waking&) = delete;

private:
    Stream& stream_;
};

// Before the stream is freed: no thread begins to wake it any more.
void wait_for_wakers(const Stream& stream);

}   // namespace weft
