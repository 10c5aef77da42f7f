// The descriptor of a unit: two cache lines, the first hot. It lies in a slab (mem/slab.hpp) and belongs to
// whoever the state says: the pool that holds it, the stream that runs it, the waker that will resume it,
// and, once it has ended, its joiner. Nothing here schedules.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>

#include "arch/look.hpp"
#include "base/atomic.hpp"
#include "base/config.hpp"
#include "unit/joint.hpp"
#include "unit/state.hpp"
#include "unit/waits.hpp"
#include "unit/whereabouts.hpp"

namespace weft {

struct Pool;
namespace mem { struct Stack; }

// How urgent a unit is: zero is what zeroed options say, and as many levels lie above as below. Seven each way: more than the
// programs we know use (three to five), and a level of a pool is one bit of a word.
inline constexpr int least_priority = -7;
inline constexpr int most_priority = 7;
inline constexpr unsigned priorities = most_priority - least_priority + 1;

enum class Kind : std::uint8_t { full = 1, lsa = 2, tasklet = 3, roc = 4, ss = 5, sc = 6, automatic = 7, hosted = 8 };   // the numbers of weft_kind
inline constexpr std::size_t kinds = 9;   // one more than the largest; no unit is `automatic`: that is decided upon before it is made

// Whether a unit of that kind is begun by a call, and becomes a fully fledged ULT only if it suspends (core/promote.hpp).
constexpr bool begins_light(Kind kind) { return kind == Kind::roc || kind == Kind::ss || kind == Kind::sc; }

struct Unit {
    // A unit is in one list at a time: a plain one that a single stream owns, or one that others reach.
    // First in the descriptor because slabs link free objects by their first word.
    union {
        Unit* link;
        atomic<Unit*> shared_link;
    };
    void* context = nullptr;                   // where to go on; null: not started. Ended: the deepest use of its stack, measured
    Joint joint;                               // where its end meets its joiner
    mem::Stack* stack = nullptr;               // null: it has none yet, or stands on its stream's scheduler's; once it has ended, nobody's
                                               // business
    union {
        void (*body)(void*) = nullptr;         // until it starts
        const void* waits_object;              // of one that waits
        const void* latest_lock;               // of one that runs: the mutex that it has locked last, as long as it holds it; or
    };                                         // anything that is no mutex of its own
    void* argument = nullptr;                  // ended by an exception: holds the std::exception_ptr (exception() below)
    Pool* pool = nullptr;                      // where it goes when it becomes ready
    Life life;
    Kind kind = Kind::tasklet;
    std::uint8_t flags = 0;
    union {
        std::uint8_t outcome = 0;              // a weft_status, valid once done
        Waits waits;                           // of a waiting unit
    };
    std::uint8_t shape = 0;                    // stack_class(), `light` and `jobs`
    atomic<std::uint8_t> marks{0};             // what is to be looked at when it starts, leaves, comes back, ends or is freed
    atomic<std::uint16_t> tag{0};              // generation() and priority()

    // The cold line.
    alignas(config::cache_line) std::uint64_t id = 0;
    const void* spawn_site = nullptr;          // spawned_at(), and spawn_tag() above the bits of an address
    std::size_t user_stack_bytes = 0;          // of one that has ended: see remember_user_stack()
    std::uint64_t waits_until_ns = 0;          // of a waiting unit: its deadline; 0: none
    char name[24] = {};
    std::uint32_t jobs_out = 0;                // of its jobs, those that others see, and itself where it is one; one more for each reason why it may not end: see may_end() in core/jobs.hpp
    std::uint32_t entries = 0;                 // what it has entered as a guest would, and not left (share/guest.cpp); of an untidy one, else none

    static constexpr std::uint8_t local = 1;       // in a private pool: finish and join need no atomics there
    static constexpr std::uint8_t bound = 2;       // never leaves its pool, of which one stream draws
    static constexpr std::uint8_t primary = 32;    // the one that called weft_init: nobody joins it
    static constexpr std::uint8_t user_stack = 4;  // the stack's memory is the user's, free from the join on
    static constexpr std::uint8_t measured = 8;    // the depth of its stack is noted when it ends; with primary: has_forked()
    static constexpr std::uint8_t fresh = measured;   // of a hosted one, whose stack is not measured: it is to have a new pthread
    static constexpr std::uint8_t internal = 16;   // a letter of the runtime on somebody's stack: no descriptor
    static constexpr std::uint8_t plain = 64;      // a default stack without a canary, and nothing to be done at the end: the
                                                   // stack is any spare one. Of kind Full, which has one of its own, from the start on
    static constexpr std::uint8_t scheduler = 128; // a scheduler's; its argument is that
    static constexpr std::uint8_t careful_end = user_stack | measured;   // never with plain

    static constexpr std::uint8_t light = 128;     // of shape: it is begun by a call, and has not suspended in this life,
    static constexpr std::uint8_t called = 64;     // and it is its joiner or its parent that calls it (core/call.hpp)
    static constexpr std::uint8_t jobs = 32;       // of shape: it may have jobs that its stream alone sees (core/jobs.hpp)
    static constexpr std::uint8_t class_bits = 31; // of shape

    // Of marks. Anybody may set one at any time, by a read-modify-write; the flags change only while nobody else looks. What the library was
    // built without is no mark: it is never set, and nobody looks for it.
    static constexpr std::uint8_t canary = 1;      // its stack is guarded by a canary, or is a host's, or its domain is told of waits: look when it leaves
    static constexpr std::uint8_t untidy = 2;      // it has ended otherwise than by returning from a stack of ours, is a sample (spawn_tag), began in another pool, or has `entries`
    static constexpr std::uint8_t extras = 4;      // it has some (unit/extras.hpp)
    static constexpr std::uint8_t cancel = config::cancel ? 8 : 0;           // it was asked to end
    static constexpr std::uint8_t migrate = config::migration ? 16 : 0;      // it was asked to go to another pool
    static constexpr std::uint8_t fixed = 32;      // it may not be asked to
    static constexpr std::uint8_t ending = 64;     // nothing that it is asked for counts any more
    static constexpr std::uint8_t observed = config::observers ? 128 : 0;    // what becomes of it is told (observe/observe.hpp); never of a scheduler's
    static constexpr std::uint8_t requests = cancel | migrate;
    static constexpr std::uint8_t at_start = requests | observed;          // what is looked at when it starts,
    static constexpr std::uint8_t at_leave = canary | observed;            // when it leaves to wait,
    static constexpr std::uint8_t at_yield = canary | requests | observed; // when it yields,
    static constexpr std::uint8_t at_return = requests | observed;         // when it comes back from that or a suspension of its own,
    static constexpr std::uint8_t after_wait = migrate | observed;         // or from a wait of the runtime's,
    static constexpr std::uint8_t at_end = canary | extras | observed;     // when it ends,
    static constexpr std::uint8_t at_release = untidy | extras | observed; // and when the descriptor is given back

    // A descriptor is zeroed slab memory, or a letter on a stack: neither needs more.
    Unit() : link(nullptr) {}

    using Word [[gnu::may_alias]] = std::uint64_t;

    // What begin_life writes: made once per stream and kind, so that a spawn writes eight bytes by one store.
    struct Birth {
        std::uint8_t state = static_cast<std::uint8_t>(State::ready);
        Kind kind = Kind::lsa;
        std::uint8_t flags = 0;
        std::uint8_t outcome = 0;
        std::uint8_t shape = 0;
        std::uint8_t marks = 0;
        std::uint16_t tag = 0;          // the priority; the generation counts only in a build that checks

        // The eight bytes as one number, with nothing but `value` in the byte at `offset`.
        static constexpr std::uint64_t byte(std::size_t offset, std::uint8_t value) {
            return std::uint64_t{value} << 8 * (std::endian::native == std::endian::little ? offset : 7 - offset);
        }
    };

    // A unit of that kind, in a pool that is private or not, before its options are looked at.
    static constexpr Birth birth(Kind of, bool in_private_pool) {
        Birth made;
        made.kind = of;
        made.flags = static_cast<std::uint8_t>((in_private_pool ? local : 0) | (of == Kind::lsa || begins_light(of) ? plain : 0));
        made.shape = begins_light(of) || of == Kind::tasklet ? light : 0;   // a tasklet stays so
        return made;
    }

    // free -> ready, and what goes with it; the unit is nobody else's yet.
    [[gnu::always_inline]] void begin_life(Birth with) {
        WEFT_ASSERT(life.is(State::free));
        if constexpr (config::checked) with.tag = static_cast<std::uint16_t>(with.tag | generation());
        if constexpr (config::thread_sanitizer) {   // which sees who lists units look here meanwhile
            atomic_ref(*reinterpret_cast<Word*>(&life)).store(std::bit_cast<Word>(with), std::memory_order_relaxed);   // relaxed: the unit is nobody else's yet
        } else {
            std::memcpy(static_cast<void*>(&life), &with, sizeof with);
        }
    }

    // Counts releases, in checked builds, where it is a part of the handle. relaxed, here and below: a number by itself.
    static constexpr unsigned generation_bits = 12;
    std::uint16_t generation() const {
        return static_cast<std::uint16_t>(tag.load(std::memory_order_relaxed) & ((1u << generation_bits) - 1));
    }
    // By whoever retires it.
    void next_generation() {
        const auto next = static_cast<std::uint16_t>((generation() + 1u) & ((1u << generation_bits) - 1));
        tag.store(next, std::memory_order_relaxed);   // relaxed: as above
    }

    // For pools that look at it; between least_priority and most_priority.
    int priority() const { return static_cast<std::int16_t>(tag.load(std::memory_order_relaxed)) >> generation_bits; }   // relaxed: a wish
    static constexpr std::uint16_t tag_of(int priority) { return static_cast<std::uint16_t>(static_cast<unsigned>(priority) << generation_bits); }
    void set_priority(int priority) {
        std::uint16_t seen = tag.load(std::memory_order_relaxed);   // relaxed, here and below: a wish
        const auto kept = static_cast<std::uint16_t>((1u << generation_bits) - 1);
        while (!tag.compare_exchange_strong(seen, static_cast<std::uint16_t>((seen & kept) | tag_of(priority)), std::memory_order_relaxed,
                                            std::memory_order_relaxed)) {}   // relaxed: as above
    }

    bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
    // From its own stream, once others may look (has_now). relaxed: they ask for other flags, or for one that may change at any time (`bound`).
    void be(std::uint8_t flag, bool now) {
        atomic_ref(flags).store(static_cast<std::uint8_t>(now ? flags | flag : flags & ~flag), std::memory_order_relaxed);
    }
    void be_plain(bool now) { be(plain, now); }

    // The wanted stack size, rounded up to a power of two: 1 is 4 KiB; 0: the default.
    unsigned stack_class() const { return shape & class_bits; }
    static constexpr std::uint8_t class_of(std::size_t bytes) {
        return bytes <= least_wanted_bytes ? 1 : static_cast<std::uint8_t>(std::bit_width((bytes - 1) / least_wanted_bytes) + 1);
    }
    std::size_t wanted_stack_bytes() const { return stack_class() == 0 ? 0 : least_wanted_bytes << (stack_class() - 1); }
    static constexpr std::size_t least_wanted_bytes = 4096;

    // That is, it may have, when it starts.
    bool has_default_stack() const { return stack_class() == 0 && !has(careful_end); }

    // Whether it has forked, and is the primary unit of the child: a stack of its own, and its end is the child's (runtime/fork.hpp).
    bool has_forked() const { return (flags & (primary | measured)) == (primary | measured); }

    bool is_light() const { return (shape & light) != 0; }
    bool has_jobs() const { return (shape & jobs) != 0; }

    // Whether one of the bits of shape is set or marked(which), by one look. From the unit's own stream.
    [[gnu::always_inline]] bool light_or_marked(std::uint8_t which) const { return shaped_or_marked(light | jobs, which); }   // has_jobs() too
    [[gnu::always_inline]] bool jobs_or_marked(std::uint8_t which) const { return shaped_or_marked(jobs, which); }
    [[gnu::always_inline]] bool shaped_or_marked(std::uint8_t shapes, std::uint8_t which) const {
        constexpr auto at = [](std::size_t field, std::uint8_t bits) {
            return static_cast<std::uint32_t>(Birth::byte(field, bits) >> (std::endian::native == std::endian::little ? 32 : 0));
        };
        static_assert(offsetof(Birth, shape) == 4);
        return arch::any_of_four(*reinterpret_cast<const arch::FourBytes*>(&shape),
                                 at(offsetof(Birth, shape), shapes) | at(offsetof(Birth, marks), which));
    }

    // Of one that may just have become light: not by one look, since a load that is wider than a store before it waits until that has
    // reached the cache.
    [[gnu::always_inline]] bool light_and_unmarked(std::uint8_t which) const { return is_light() && !marked(which); }
    [[gnu::always_inline]] bool only_light_and_unmarked(std::uint8_t which) const { return (shape & (light | jobs)) == light && !marked(which); }   // nor has_jobs()

    // Of a sample: of which place (process/sites.hpp); else 0.
    unsigned spawn_tag() const { return static_cast<unsigned>(reinterpret_cast<std::uint64_t>(spawn_site) >> spawn_address_bits); }
    [[gnu::no_sanitize_thread]] const void* spawned_at() const { return tagged(spawn_site, 0); }   // also while it is being spawned
    static const void* tagged(const void* site, unsigned tag) {
        const std::uint64_t address = reinterpret_cast<std::uint64_t>(site) & ((std::uint64_t{1} << spawn_address_bits) - 1);
        return reinterpret_cast<const void*>(address | std::uint64_t{tag} << spawn_address_bits);
    }
    static constexpr unsigned spawn_address_bits = 48;   // what Linux gives who does not ask for more

    // has() and `pool`, for whoever neither runs nor owns the unit: it may go to another pool meanwhile (whereabouts.hpp).
    // relaxed: what is ordered is asked by local_pool().
    bool has_now(std::uint8_t flag) const {
        return (atomic_ref(const_cast<std::uint8_t&>(flags)).load(std::memory_order_relaxed) & flag) != 0;
    }
    Pool* pool_now() const { return atomic_ref(const_cast<Pool*&>(pool)).load(WhereaboutsOrders::pool_read); }

    // The private pool that the unit is local to, or null: for the same.
    Pool* local_pool() const {
        return local_to(atomic_ref(const_cast<std::uint8_t&>(flags)), local, atomic_ref(const_cast<Pool*&>(pool)));
    }

    // From now on the unit goes to `to`. For whoever has it: its stream, or who took it out of its pool; of a local unit only on
    // the stream that draws from the pool. It is not local again in this life, even in another private pool: a joiner may have seen
    // it shared. Nor plain, for that would end by the rules of the pool it is in.
    void change_pool(Pool& to) {
        if (has(local)) forget_given_up(joint);   // afterwards this stream could not
        change_whereabouts(atomic_ref(flags), static_cast<std::uint8_t>(flags & ~(local | plain)), atomic_ref(pool), &to);
    }

    // Whether it has been nothing but spawned, as `with` says and no option otherwise: nothing has been asked of it yet. True only of
    // such units, but not of all: a build that checks gives each descriptor a generation. relaxed: as has() and marked().
    [[gnu::always_inline]] bool as_born(Birth with) const {
        return atomic_ref(*reinterpret_cast<Word*>(const_cast<Life*>(&life))).load(std::memory_order_relaxed) == std::bit_cast<std::uint64_t>(with);
    }

    // Neither started nor waited for. From the stream that it is local to.
    [[gnu::always_inline]] bool untouched() const { return (reinterpret_cast<std::uintptr_t>(context) | joint.bits()) == 0; }

    // has(plain) and not marked(at_start), by one look: what begin_life() wrote at once is read at once. relaxed: as has() and marked().
    [[gnu::always_inline]] bool plain_and_unasked() const {
        constexpr std::uint64_t wanted = Birth::byte(offsetof(Birth, flags), plain), asked = Birth::byte(offsetof(Birth, marks), at_start);
        const std::uint64_t word = atomic_ref(*reinterpret_cast<Word*>(const_cast<Life*>(&life))).load(std::memory_order_relaxed);
        return (word & (wanted | asked)) == wanted;
    }

    // The same, where neither of the two pools is private.
    void set_pool(Pool& to) { atomic_ref(pool).store(&to, WhereaboutsOrders::pool); }

    // relaxed: what a mark stands for is read under a lock or belongs to whoever looks.
    [[gnu::always_inline]] bool marked(std::uint8_t which) const { return which != 0 && arch::any_of(marks, which); }
    void mark(std::uint8_t which) { marks.fetch_or(which, std::memory_order_release); }       // release: pairs with extras_of()
    void unmark(std::uint8_t which) {
        marks.fetch_and(static_cast<std::uint8_t>(~which), std::memory_order_relaxed);        // relaxed: as above
    }

    atomic<Unit*>& atomic_link() { return shared_link; }

    // Where the exception is kept that ended the body.
    std::exception_ptr& exception() { return *std::launder(reinterpret_cast<std::exception_ptr*>(&argument)); }
};
static_assert(sizeof(Life) == 1 && sizeof(std::exception_ptr) == sizeof(void*));
static_assert(offsetof(Unit, kind) == offsetof(Unit, life) + 1 && offsetof(Unit, flags) == offsetof(Unit, life) + 2 &&
              offsetof(Unit, tag) == offsetof(Unit, life) + offsetof(Unit::Birth, tag) && sizeof(Unit::Birth) == 8,
              "begin_life writes them together");
static_assert(sizeof(Unit) == 2 * config::cache_line && offsetof(Unit, id) == config::cache_line);

}  // namespace weft
