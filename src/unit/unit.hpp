// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The descriptor of a unit: two cache lines, the first hot. It lies in a slab (mem/slab.hpp) and
// belongs to the owner that the state names: the pool that holds it, the stream that runs it, the
// waker that will resume it, and, once it has ended, its joiner. Nothing here schedules.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>

#include "arch/look.hpp"
#include "base/atomic.hpp"
#include "base/bits.hpp"
#include "base/config.hpp"
#include "unit/join_state.hpp"
#include "unit/owner_pool.hpp"
#include "unit/state.hpp"
#include "unit/waits.hpp"

namespace weft {

struct Pool;
namespace mem {
struct Stack;
}

// How urgent a unit is: zero is what zeroed options give, and as many levels lie above as below.
// Seven each way: more than the programs known to us use (three to five), and a level of a pool is
// one bit of a word.
inline constexpr int least_priority = -7;
inline constexpr int most_priority = 7;
inline constexpr unsigned priorities = most_priority - least_priority + 1;

// the numbers of weft_kind
enum class Kind : std::uint8_t { full = 1, lsa = 2, tasklet = 3, roc = 4, ss = 5, sc = 6, automatic = 7, hosted = 8 };
// one more than the largest; no unit is `automatic`: its kind is decided before it is made
inline constexpr std::size_t kinds = 9;

// Whether a unit of that kind is begun by a call, and becomes a full ULT only if it suspends
// (core/promote.hpp).
constexpr bool begins_light(Kind kind) { return kind == Kind::roc || kind == Kind::ss || kind == Kind::sc; }

struct Unit {
    // What the unit is from its spawn on. Changed only while no other thread looks, except for
    // `local`, `bound` and `plain` (be).
    using Flags = Bits<struct OfFlags, std::uint8_t>;
    static constexpr Flags local{1};        // in a private pool: finish and join need no atomics there
    static constexpr Flags bound{2};        // never leaves its pool, from which one stream draws
    static constexpr Flags user_stack{4};   // the stack's memory is the user's, free from the join on
    static constexpr Flags measured{8};     // the depth of its stack is noted when it ends
    static constexpr Flags internal{16};    // a remote call of the runtime on some thread's stack: no descriptor
    static constexpr Flags primary{32};     // the unit that called weft_init: it cannot be joined
    // a default stack without a canary, and nothing to be done at the end: any spare stack will do.
    // A unit of kind Full has one such stack of its own from the start on
    static constexpr Flags plain{64};
    static constexpr Flags scheduler{128};                      // a scheduler's unit; its argument is the scheduler
    static constexpr Flags own_stack = user_stack | measured;   // its stack is not a spare one; never with plain
    // its end needs a check: a primary unit's may be that of a fork's child
    static constexpr Flags slow_end = own_stack | primary;

    // Its own stream's, while it runs.
    using Shape = Bits<struct OfShape, std::uint8_t>;
    static constexpr Shape light{128};       // it is begun by a call, and has not suspended in this life,
    static constexpr Shape called{64};       // and its joiner or its parent calls it (core/call.hpp)
    static constexpr Shape jobs{32};         // it may have jobs that only its stream sees (core/jobs.hpp)
    static constexpr Shape class_bits{31};   // no bits of their own: stack_class()

    // What is to be checked when the unit starts, leaves, comes back, ends or is freed. Any thread
    // may set a mark at any time, by a read-modify-write. For a feature that the library was built
    // without there is no mark: it is never set, and never checked.
    using Marks = Bits<struct OfMarks, std::uint8_t>;
    // it leaves, and ends, by a way that checks (mark_hooks in process/hooks.hpp)
    static constexpr Marks careful{1};
    // something is to be tidied up when the descriptor is given back (tidy_up in core/finish.cpp)
    static constexpr Marks untidy{2};
    static constexpr Marks extras{4};                             // it has some (unit/extras.hpp)
    static constexpr Marks cancel{config::cancel ? 8 : 0};        // it was asked to end
    static constexpr Marks migrate{config::migration ? 16 : 0};   // it was asked to go to another pool
    static constexpr Marks fixed{32};                             // it may not be asked to
    static constexpr Marks ending{64};                            // requests to it no longer have an effect
    // its life is reported (observe/observe.hpp); never a scheduler's
    static constexpr Marks observed{config::observers ? 128 : 0};
    static constexpr Marks requests = cancel | migrate;
    static constexpr Marks at_start = requests | observed;             // what is checked when it starts,
    static constexpr Marks at_leave = careful | observed;              // when it leaves to wait,
    static constexpr Marks at_yield = careful | requests | observed;   // when it yields,
    // when it comes back from that or a suspension of its own,
    static constexpr Marks at_return = requests | observed;
    static constexpr Marks after_wait = migrate | observed;           // or from a wait of the runtime,
    static constexpr Marks at_end = careful | extras | observed;      // when it ends,
    static constexpr Marks at_release = untidy | extras | observed;   // and when the descriptor is given back

    // A unit is in one list at a time: a plain list that a single stream owns, or one that other
    // threads reach. First in the descriptor because slabs link free objects by their first word.
    union {
        Unit* link;
        atomic<Unit*> shared_link;
    };
    // where to continue; null: not started. Of an ended unit: the deepest use of its stack,
    // measured
    void* context = nullptr;
    JoinState join_state;   // where its end meets its joiner
    // null: it has none yet, or stands on its stream's scheduler's; once it has ended, unused
    mem::Stack* stack = nullptr;
    union {
        void (*body)(void*) = nullptr;   // until it starts
        const void* waits_object;        // for a waiting unit
        // for a running unit: the mutex that it has locked last, as long as it holds it; or
        const void* latest_lock;
    };   // any value that is no mutex of its own
    // ended by an exception: holds the std::exception_ptr (exception() below)
    void* argument = nullptr;
    Pool* pool = nullptr;   // where it goes when it becomes ready
    Life life;
    Kind kind = Kind::tasklet;
    Flags flags{};
    union {
        Outcome outcome = Outcome::returned;   // valid once done
        bool wants_fresh;                      // for a hosted unit, until it starts: a pthread that no unit has had
        Waits waits;                           // for a waiting unit
    };
    Shape shape{};
    atomic<std::uint8_t> marks{0};   // Marks
    atomic<std::uint16_t> tag{0};    // generation() and priority()

    // The cold line.
    alignas(config::cache_line) std::uint64_t id = 0;
    const void* spawn_site = nullptr;   // spawned_at(), and spawn_tag() above the bits of an address
    std::size_t user_stack_bytes = 0;   // for an ended unit: see remember_user_stack()
    std::uint64_t waits_until_ns = 0;   // for a waiting unit: its deadline; 0: none
    char name[24] = {};
    // the number of its jobs that other streams see, and of itself where it is one; one more for
    // each reason why it may not end: see may_end() in process/may_end.hpp
    std::uint32_t jobs_out = 0;
    // how many times it has entered as a guest would, and not left (share/guest.cpp); valid for an
    // untidy unit, else none
    std::uint32_t entries = 0;

    // A descriptor is zeroed slab memory, or a remote call on a stack: neither needs more.
    Unit() : link(nullptr) {}

    using Word [[gnu::may_alias]] = std::uint64_t;

    // What begin_life writes: made once per stream and kind, so that a spawn writes eight bytes by
    // one store.
    struct InitialHeader {
        std::uint8_t state = static_cast<std::uint8_t>(State::ready);
        Kind kind = Kind::lsa;
        Flags flags{};
        Outcome outcome = Outcome::returned;
        Shape shape{};
        Marks marks{};
        std::uint16_t tag = 0;   // the priority; the generation counts only in a build that checks

        // The eight bytes as one number, with nothing but `value` in the byte at `offset`.
        static constexpr std::uint64_t byte(std::size_t offset, std::uint8_t value) {
            return std::uint64_t{value} << 8 * (std::endian::native == std::endian::little ? offset : 7 - offset);
        }
    };

    // A pool, and what a unit begins with there: as in the descriptor, so that a spawn copies both
    // at once.
    struct Home {
        Pool* pool;
        InitialHeader header{};
    };

    // A unit of that kind, in a pool that is private or not, before its options are applied.
    static constexpr InitialHeader initial_header(Kind of, bool in_private_pool) {
        InitialHeader made;
        made.kind = of;
        made.flags = local.only_if(in_private_pool) | plain.only_if(of == Kind::lsa || begins_light(of));
        made.shape = light.only_if(begins_light(of) || of == Kind::tasklet);   // a tasklet stays so
        return made;
    }

    // free -> ready, and what goes with it; no other thread owns the unit yet.
    [[gnu::always_inline]] void begin_life(InitialHeader with) {
        WEFT_ASSERT(life.is(State::free));
        if constexpr (config::checked) with.tag = static_cast<std::uint16_t>(with.tag | generation());
        if constexpr (config::thread_sanitizer) {   // it sees that threads that list units look here
            // relaxed: no other thread owns the unit yet
            atomic_ref(*reinterpret_cast<Word*>(&life)).store(std::bit_cast<Word>(with), std::memory_order_relaxed);
        } else {
            std::memcpy(static_cast<void*>(&life), &with, sizeof with);
        }
    }
    // begin_life() in the pool; by one store.
    [[gnu::always_inline]] void begin_life(const Home& at) {
        if constexpr (config::checked || config::thread_sanitizer) {
            pool = at.pool;
            begin_life(at.header);
        } else {
            std::memcpy(static_cast<void*>(&pool), &at, sizeof at);
        }
    }

    // Counts releases, in checked builds, where it is a part of the handle. relaxed, here and
    // below: a number by itself.
    static constexpr unsigned generation_bits = 12;
    std::uint16_t generation() const {
        return static_cast<std::uint16_t>(tag.load(std::memory_order_relaxed) & ((1u << generation_bits) - 1));
    }
    // By the thread that retires the unit.
    void next_generation() {
        const auto next = static_cast<std::uint16_t>((generation() + 1u) & ((1u << generation_bits) - 1));
        tag.store(next, std::memory_order_relaxed);   // relaxed: a number by itself
    }

    // For pools that use it; between least_priority and most_priority.
    // relaxed: a wish
    int priority() const { return static_cast<std::int16_t>(tag.load(std::memory_order_relaxed)) >> generation_bits; }
    static constexpr std::uint16_t tag_of(int priority) {
        return static_cast<std::uint16_t>(static_cast<unsigned>(priority) << generation_bits);
    }
    void set_priority(int priority) {
        std::uint16_t seen = tag.load(std::memory_order_relaxed);   // relaxed, here and below: a wish
        const auto kept = static_cast<std::uint16_t>((1u << generation_bits) - 1);
        while (!tag.compare_exchange_strong(seen, static_cast<std::uint16_t>((seen & kept) | tag_of(priority)),
                                            std::memory_order_relaxed, std::memory_order_relaxed)) {
        }   // relaxed: a wish
    }

    bool has(Flags which) const { return flags.has(which); }
    // From its own stream, once other threads may look (has_now). relaxed: they ask for other
    // flags, or for one that may change at any time (`bound`).
    void be(Flags which, bool now) {
        atomic_ref(flags.word).store((now ? flags | which : flags.without(which)).word, std::memory_order_relaxed);
    }
    void be_plain(bool now) { be(plain, now); }

    // The wanted stack size, rounded up to a power of two: 1 is 4 KiB; 0: the default.
    unsigned stack_class() const { return (shape & class_bits).word; }
    static constexpr Shape class_of(std::size_t bytes) {
        return {bytes <= least_wanted_bytes
                    ? std::uint8_t{1}
                    : static_cast<std::uint8_t>(std::bit_width((bytes - 1) / least_wanted_bytes) + 1)};
    }
    std::size_t wanted_stack_bytes() const {
        return stack_class() == 0 ? 0 : least_wanted_bytes << (stack_class() - 1);
    }
    static constexpr std::size_t least_wanted_bytes = 4096;

    // That is, it may have one, when it starts.
    bool has_default_stack() const { return stack_class() == 0 && !has(own_stack); }

    bool is_light() const { return shape.has(light); }
    bool is_called() const { return shape.has(called); }
    bool has_jobs() const { return shape.has(jobs); }

    // Whether one of the bits of shape is set or marked(which), by one load. From the unit's own
    // stream. has_jobs() too
    [[gnu::always_inline]] bool light_or_marked(Marks which) const { return shaped_or_marked(light | jobs, which); }
    [[gnu::always_inline]] bool jobs_or_marked(Marks which) const { return shaped_or_marked(jobs, which); }
    [[gnu::always_inline]] bool shaped_or_marked(Shape shapes, Marks which) const {
        constexpr auto at = [](std::size_t field, std::uint8_t bits) {
            return static_cast<std::uint32_t>(InitialHeader::byte(field, bits) >>
                                              (std::endian::native == std::endian::little ? 32 : 0));
        };
        static_assert(offsetof(InitialHeader, shape) == 4);
        return arch::any_of_four(
            *reinterpret_cast<const arch::FourBytes*>(&shape),
            at(offsetof(InitialHeader, shape), shapes.word) | at(offsetof(InitialHeader, marks), which.word));
    }

    // For a unit that may just have become light: not by one load, since a load that is wider than
    // a store before it waits until the store has reached the cache.
    [[gnu::always_inline]] bool light_and_unmarked(Marks which) const { return is_light() && !marked(which); }
    // nor has_jobs()
    [[gnu::always_inline]] bool only_light_and_unmarked(Marks which) const {
        return (shape & (light | jobs)) == light && !marked(which);
    }

    // For a sample: its place (process/sites.hpp); else 0.
    unsigned spawn_tag() const {
        return static_cast<unsigned>(reinterpret_cast<std::uint64_t>(spawn_site) >> spawn_address_bits);
    }
    // also while it is being spawned
    [[gnu::no_sanitize_thread]] const void* spawned_at() const { return tagged(spawn_site, 0); }
    static const void* tagged(const void* site, unsigned tag) {
        const std::uint64_t address =
            reinterpret_cast<std::uint64_t>(site) & ((std::uint64_t{1} << spawn_address_bits) - 1);
        return reinterpret_cast<const void*>(address | std::uint64_t{tag} << spawn_address_bits);
    }
    static constexpr unsigned spawn_address_bits = 48;   // what Linux gives a program that does not ask for more

    // has() and `pool`, for a thread that neither runs nor owns the unit: the unit may go to
    // another pool meanwhile (owner_pool.hpp). relaxed: ordered answers come from local_pool().
    bool has_now(Flags which) const {
        return Flags{atomic_ref(const_cast<std::uint8_t&>(flags.word)).load(std::memory_order_relaxed)}.has(which);
    }
    Pool* pool_now() const { return atomic_ref(const_cast<Pool*&>(pool)).load(OwnerPoolOrders::pool_read); }

    // The private pool that the unit is local to, or null: for a thread that neither runs nor owns
    // it.
    Pool* local_pool() const {
        return local_to(atomic_ref(const_cast<std::uint8_t&>(flags.word)), local.word,
                        atomic_ref(const_cast<Pool*&>(pool)));
    }

    // From now on the unit goes to `to`. For the owner of the unit: its stream, or the thread that
    // took it out of its pool; for a local unit only on the stream that draws from the pool. The
    // unit does not become local again in this life, even in another private pool: a joiner may
    // have seen it shared. Nor is it plain any more, since it would then end by the rules of the
    // pool it is in.
    void change_pool(Pool& to) {
        if (has(local)) forget_given_up(join_state);   // afterwards this stream could not
        change_owner_pool(atomic_ref(flags.word), flags.without(local | plain).word, atomic_ref(pool), &to);
    }

    // Whether the unit has only been spawned, as `with` says and with no other option: no request
    // has been made to it yet. True only for such units, but not for all of them: a build that
    // checks gives each descriptor a generation. relaxed: as has() and marked().
    [[gnu::always_inline]] bool begins_as(InitialHeader with) const {
        return atomic_ref(*reinterpret_cast<Word*>(const_cast<Life*>(&life))).load(std::memory_order_relaxed) ==
               std::bit_cast<std::uint64_t>(with);
    }

    // Neither started nor waited for. From the stream to which it is local.
    [[gnu::always_inline]] bool untouched() const {
        return (reinterpret_cast<std::uintptr_t>(context) | join_state.bits()) == 0;
    }

    // has(plain) and not marked(at_start), by one load: what begin_life() wrote at once is read at
    // once. relaxed: as has() and marked().
    [[gnu::always_inline]] bool plain_and_unasked() const {
        constexpr std::uint64_t wanted = InitialHeader::byte(offsetof(InitialHeader, flags), plain.word),
                                asked = InitialHeader::byte(offsetof(InitialHeader, marks), at_start.word);
        const std::uint64_t word =
            atomic_ref(*reinterpret_cast<Word*>(const_cast<Life*>(&life))).load(std::memory_order_relaxed);
        return (word & (wanted | asked)) == wanted;
    }

    // change_pool(), where neither of the two pools is private.
    void set_pool(Pool& to) { atomic_ref(pool).store(&to, OwnerPoolOrders::pool); }

    // relaxed: what a mark stands for is read under a lock or belongs to the reader.
    [[gnu::always_inline]] bool marked(Marks which) const { return which.any() && arch::any_of(marks, which.word); }
    // release: pairs with extras_of()
    void mark(Marks which) { marks.fetch_or(which.word, std::memory_order_release); }
    void unmark(Marks which) {
        // relaxed: what the mark stands for is read under a lock, or belongs to the reader
        marks.fetch_and(static_cast<std::uint8_t>(~which.word), std::memory_order_relaxed);
    }

    atomic<Unit*>& atomic_link() { return shared_link; }

    // While no thread runs: the state matches the flags, the context and the end. For a living
    // unit.
    void check_whole() const {
        join_state.check_whole(this);
        const State state = life.now();
        WEFT_ASSERT(state != State::free && pool != nullptr && !has(internal));
        WEFT_ASSERT(kind >= Kind::full && kind <= Kind::hosted && kind != Kind::automatic);
        WEFT_ASSERT(!has(plain) || !has(slow_end));
        WEFT_ASSERT(join_state.done() == (state == State::done));
        if (state == State::suspended || state == State::waiting)
            WEFT_ASSERT(context != nullptr && kind != Kind::tasklet);
        if (state == State::waiting) WEFT_ASSERT(waits <= Waits::suspend);
        WEFT_ASSERT(waits_until_ns == 0 || state != State::free);
    }

    // Where the exception that ended the body is kept.
    std::exception_ptr& exception() { return *std::launder(reinterpret_cast<std::exception_ptr*>(&argument)); }
};
static_assert(sizeof(Life) == 1 && sizeof(std::exception_ptr) == sizeof(void*));
static_assert(offsetof(Unit, kind) == offsetof(Unit, life) + 1 && offsetof(Unit, flags) == offsetof(Unit, life) + 2 &&
                  offsetof(Unit, tag) == offsetof(Unit, life) + offsetof(Unit::InitialHeader, tag) &&
                  sizeof(Unit::InitialHeader) == 8,
              "begin_life writes them together");
static_assert(offsetof(Unit, life) == offsetof(Unit, pool) + offsetof(Unit::Home, header) &&
                  sizeof(Unit::Home) == sizeof(Pool*) + sizeof(Unit::InitialHeader),
              "and the pool");
static_assert(sizeof(Unit) == 2 * config::cache_line && offsetof(Unit, id) == config::cache_line);

}   // namespace weft
