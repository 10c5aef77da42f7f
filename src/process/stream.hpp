// A stream: runs units on the OS thread that is its carrier. Everything but what is marked belongs to the
// carrier alone, on whatever stack it stands; a unit that has switched must ask for current() again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "arch/look.hpp"
#include "base/atomic.hpp"
#include "context/host.hpp"
#include "context/switch.hpp"
#include "hart/bell.hpp"
#include "hart/gate.hpp"
#include "mem/overflow.hpp"
#include "mem/slab.hpp"
#include "mem/stack.hpp"
#include "os/cpuset.hpp"
#include "os/local.hpp"
#include "os/thread.hpp"
#include "poll/posts.hpp"
#include "poll/timers.hpp"
#include "process/job_types.hpp"
#include "process/sites.hpp"
#include "sched/sched.hpp"
#include "trace/counters.hpp"
#include "unit/extras.hpp"
#include "unit/unit.hpp"
#include "weft/here.h"

namespace weft {

struct Domain;
struct Guest;
struct ObserverList;
struct Sent;
namespace trace { class Ring; }

// What the sentry remembers of a stream, from look to look.
struct Noted {
    std::uint64_t runs = ~std::uint64_t{0};
    std::uint64_t moved_ns = 0;        // when it was seen to have run something else, or to sleep
    std::uint64_t waits_ns = 0;        // since when something waits; 0: nothing does
    std::uint64_t told_unit = 0;       // the number of the unit that was told of last, and what `runs` was then
    std::uint64_t told_runs = ~std::uint64_t{0};
};

// What one stream allocates from. Streams come and go; heaps stay, so what was freed elsewhere finds home.
struct Heap {
    mem::SlabCache* units;
    mem::SlabCache* extras;
    mem::StackCache stacks;
    std::uint64_t next_id;             // the heap's number in the upper 16 bits, so that no two give the same
    Heap* next_idle = nullptr;
    Timers timers;                     // of the stream that has the heap; here because they may be cancelled when it has ended

    Heap(mem::SlabCache* of_units, mem::SlabCache* of_extras, mem::StackStore& store, std::uint64_t rank)
        : units(of_units), extras(of_extras), stacks(store), next_id((rank << 48) + 1) {}
};

// Asked of a stream from outside; bits of Stream::attention.
namespace attention {
inline constexpr std::uint32_t stop = 1;      // return once the pools are empty
inline constexpr std::uint32_t pause = 2;     // run nothing until further notice
inline constexpr std::uint32_t exit = 4;      // the process ends: stop where you are
inline constexpr std::uint32_t timing = 8;    // always pass through the scheduler, which reads the clock
inline constexpr std::uint32_t polling = 16;  // always pass through the scheduler, which makes the pollers' calls now and then
inline constexpr std::uint32_t alarm = 32;    // look at the timers
inline constexpr std::uint32_t posted = 64;   // make the calls that were posted
inline constexpr std::uint32_t poll = 128;    // make the pollers' calls now
inline constexpr std::uint32_t adopt = 256;   // a pool for bound units is there
inline constexpr std::uint32_t replace = 512; // another main scheduler is there
inline constexpr std::uint32_t observing = 1024;   // always pass through the scheduler: units are observed (observe.hpp)
inline constexpr std::uint32_t observed = 2048;    // that has begun or ended
inline constexpr std::uint32_t unwatched = 4096;   // in Stream::heeded alone: timers wait that the lookout does not know of; see duties.hpp
inline constexpr std::uint32_t abandon = 8192;     // with stop: return now, and leave in the pools what waits there
inline constexpr std::uint32_t lent = 16384;       // the hart may be a domain's (domain.hpp)
inline constexpr std::uint32_t aside = 32768;      // lend the hart: others have a better claim to it (lending.hpp); stays until the stream has one again
inline constexpr std::uint32_t relieved = 65536;   // it stands in for another stream, and that is over (rescue.hpp)
inline constexpr std::uint32_t leisurely = timing | polling | observing | observed;   // nobody waits for an answer to them
}  // namespace attention

// How many rounds of a stream's scheduler lie between two looks at the pollers, while it is busy.
inline constexpr std::uint32_t rounds_between_polls = 16;

struct Nothing {};
struct Nobody {
    const Unit* unit = nullptr;        // where others look for the unit that runs: they must ask
};

// What a hart is to do next, as a callback of its domain has decided.
struct Transition {
    enum class What : unsigned char { open, run, enter, reenter, yield, pass };
    What what = What::open;
    Unit* unit = nullptr;
    union {
        Domain* child = nullptr;
        Sent* carrier;                     // for the hart that is passed on
    };
};

// Where a stream's units come from and go to.
struct Way {
    Sched* sched;
    PrivatePool* direct;
    Pool* common;
    Pool* standard;
};

// Called for stream 0 as long as that has no OS thread (start_when_needed): it starts one.
void start_zero(Sleeper&);

struct Stream {
    // First, and open: programs reach both by the word that leads to the stream (include/weft/here.h).
    JobRing jobs;
    [[no_unique_address]] std::conditional_t<config::checked, Nobody, Nothing> instead;   // handles are no addresses there

    // Hot: every switch reads it.
    Unit* running = nullptr;           // null while the scheduler runs
    PrivatePool* direct = nullptr;     // the main pool, where picking is popping from it: a private pool alone under a basic
                                       // scheduler, on a stream with no other place to look at
    Pool* common = nullptr;            // the main pool, where picking begins with it and others draw from it too: a shared one alone under a basic
                                       // scheduler, or a deque under one that steals; never beside direct
    mem::SlabCache* units = nullptr;   // of the heap
    atomic<std::uint64_t> next_id{0};  // of the heap, while the stream has it; see take_id
    mem::Stack* reserve = nullptr;     // for the scheduler to begin anew on, when a unit has taken its place
    mem::Stack* spare = nullptr;       // default stacks, without a canary, for the next plain units that start: one, and more only while
                                       // units call each other. A unit that ends puts its own here while it still stands on it: nobody
                                       // but this stream takes it
    Unit* handed = nullptr;            // picked by a unit that left, to be run by the scheduler
    Sched* sched = nullptr;            // whose units run: the main one, or one that is itself a unit (level.hpp)
    Pool* standard = nullptr;          // where units go for which no pool is named
    PrivatePool* callable = &no_pool;  // the direct pool while a ULT runs, else an empty one: who joins or waits looks at its first
                                       // unit, and need not ask whether it is a ULT that does so
    PrivatePool* callable_without_jobs = nullptr;   // callable, where the unit that runs has forked: then callable is empty
    PrivatePool* own = nullptr;        // where units bound to the stream wait, when no pool of its main scheduler is theirs
    bool through_home = false;         // a unit that leaves goes home always; see settle_way()
    bool restartable = false;          // its scheduler keeps nothing on its stack: units may take its place; see settle_way()
    int* errno_address = nullptr;
    os::ExceptionGlobals* exceptions = nullptr;
    Heap* heap = nullptr;
    context::Target home{};            // the scheduler's context while a unit runs, and the stack that it stands on
    trace::Counters counters;
    Kind default_kind = Kind::lsa;     // of the settings
    Pool* ult_home = nowhere();        // the direct pool, where a ULT without options may go there by the short way
    Pool* tasklet_home = nowhere();    // the same of a tasklet
    Pool* common_home = nowhere();     // the common pool, as ult_home
    Unit::Birth birth_ult;             // of a unit of the default kind in the direct pool
    Unit::Birth birth_common;          // of a unit of the default kind in the common pool, if that is not auto
    Unit::Birth birth_tasklet;
    LatestSites latest_sites;          // of units of kind auto that it has spawned without options
    Sampling sampling;                 // of the units of kind auto that it spawns
    atomic<std::uint64_t> first_id{0}; // what next_id was when the stream began; written by its thread alone
    std::uint32_t passes_left = 1;     // of the stream from one unit to the next past its pools (sync/condition.cpp)
    std::uint64_t poll_sleep_ns = 0;   // how long the next sleep between two looks at the pollers is (duties.cpp)
    std::uint32_t rounds = 0;          // of the scheduler since the pollers had their turn
    bool own_had_a_turn = false;
    bool holds_hart = false;
    std::uint32_t heeded = 0;          // the bits of attention that attend() has seen
    std::uint64_t clock_ns = 0;        // when the scheduler began (with WEFT_TIMING=on)
    std::size_t postponed_in_a_row = 0;
    std::uint64_t postponed = 0;       // since a unit was given up
    std::size_t condemned = 0;         // how many more are not to be tried again (postpone() in begin.cpp)
    std::uint64_t finished_then = 0;   // the units that had ended when that was said, or the last of them did
    bool starving = false;             // counted in Process::starving
    bool times_unit = false;           // the clock was read when a unit began, and is to be read when it leaves
    bool observed = false;             // as attention said when it was looked at last

    // Rare.
    std::size_t rank = 0;
    unsigned depth = 0;                // schedulers that run below one another as units now
    bool main_runs = false;            // the main scheduler owns its loop, and its unit has not ended
    Sched* main = nullptr;             // the main scheduler
    Sched* beneath = nullptr;          // of a main scheduler that owns its loop: what the stream's own loop asks, with its unit's pool
    Sched* next_main = nullptr;        // takes its place soon; under Process::replacing
    Domain* domain = nullptr;          // which has the stream's hart; null: none
    Domain* lender = nullptr;          // which had it when the scheduler began that stands on this stack: a level, or the stream's own
    Way own_way{};                     // of that scheduler, while another domain has the hart
    atomic<Domain*> returned{nullptr}; // domains that come with a hart, to go on with a unit that is bound to this stream
    bool serving = false;              // that scheduler sees to the hart of the other domain
    Transition transition;             // what that is to do next
    bool deciding = false;             // in a callback that may say so
    std::uint32_t staying = 0;         // units that weft_unit_bind has bound to it
    bool owes_stir = false;            // a context has yielded on its hart: if that goes, others are to come for it
    std::uint32_t domain_turns = 0;    // how often it has asked a domain what to do next
    bool carries = false;              // it is there to take harts to domains, and is no stream of the program's
    Guest* guest = nullptr;            // of one whose carrier is an OS thread of the application: that (guest.hpp)
    Stream* next_aside = nullptr;      // in Lending::waiting
    Gate turn;                         // where it waits then
    bool turn_called_off = false;      // it goes on with a hart that a domain has brought; under Lending::lock until the gate opens
    bool rescues = false;              // at the moment it stands in for another stream, and has one (rescue.hpp)
    bool only_carries() const { return carries && !rescues; }
    void* data = nullptr;              // the program's
    char name[16] = {};
    Pool* automatic_pool = nullptr;    // made with the stream
    mem::Stack carrier_stack{};        // the OS thread's own: of the primary unit, or where the carrier waits for the scheduler to end
    void* carrier_context = nullptr;   // where it goes on then; stream 0 has none
    context::Carrier carrier;          // what the OS thread has of its own, while hosted units run
    Sleeper sleeper{start_zero, false};
    Bell::Place own_place;
    Bell::Place jobs_place;
    mem::AlternateStack signal_stack;
    trace::Ring* ring = nullptr;       // where its events go (WEFT_TRACE); of the stream's rank

    // Others write it.
    alignas(config::cache_line) atomic<std::uint32_t> attention{0};
    atomic<std::uint64_t> alarm_ns{Timers::never};   // while it is busy: its earliest deadline, for the lookout
    atomic<bool> asleep{false};              // a hint for the lookout
    std::uint64_t delay_ns = 0, delay_round = 0;   // its OS thread's, at the look of that number (neighbours.cpp)
    Noted noted;                             // the sentry's (sentry.hpp)
    atomic<Jobs*> job_list{nullptr};         // of the place where its hart is: it takes jobs from there. The stream writes it; null: no place
    atomic<Jobs*> shows_to{nullptr};         // where what its units fork is shown: who is hungry there asks it. As job_list, but a guest's stream shows what it does not take
    atomic<const ObserverList*> telling{nullptr};   // whom the stream tells something at this moment
    Posts posts;
    atomic<std::uint32_t> thread_id{0};      // the carrier's; 0: not started
    bool starts_late = false;                // its OS thread does, with the first that it is needed for (start_when_needed)
    atomic<bool> freeing{false};
    atomic<std::uint32_t> wakers{0};         // OS threads that are about to wake it (Waking)
    atomic<Pool*> main_pool{nullptr};        // the first of the main scheduler's
    atomic<PrivatePool*> bound{nullptr};     // where units bound to the stream wait; null: there have been none
    Joint end;                         // where the carrier's end meets whoever frees the stream
    os::Thread thread;
    os::CpuSet binding;                // guarded by the runtime's lock; empty: not bound

    static constinit inline PrivatePool no_pool{};   // nothing ever comes in

    // Instead of a home: no pool is here, and no caller says so, as one who names no pool says null.
    static Pool* nowhere() { return reinterpret_cast<Pool*>(alignof(Pool)); }

    // relaxed: the stream alone gives ids out; others only read how many.
    [[gnu::always_inline]] std::uint64_t take_id() {
        const std::uint64_t id = next_id.load(std::memory_order_relaxed);
        next_id.store(id + 1, std::memory_order_relaxed);
        return id;
    }

    [[gnu::always_inline]] void keep_spare(mem::Stack* stack) {
        stack->next = spare;
        spare = stack;
    }
    // Of those there are.
    [[gnu::always_inline]] mem::Stack* take_spare() {
        mem::Stack* const stack = spare;
        spare = stack->next;
        sanitizer::unpoison(stack->lowest, stack->bytes);   // a unit that was promoted ends without returning from the frames that called it
        return stack;
    }

    // The last one that was taken has not been used.
    void untake_id() { next_id.store(next_id.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed); }   // relaxed: as above

    // Created units are counted by the ids that were given out; runs by how they ended.
    std::uint64_t counted(trace::Count which) const;

    // True: somebody wants something; the scheduler sees to it. relaxed: a hint, acted upon with acquire in attend().
    [[gnu::always_inline]] bool wanted() const { return !arch::is_zero(attention); }
};

static_assert(offsetof(Stream, jobs) == offsetof(weft_here, jobs) && offsetof(JobRing, face) == 0);
static_assert(config::checked ? offsetof(Stream, instead) == offsetof(weft_here, running) : offsetof(Stream, running) == offsetof(weft_here, running));

// The stream of the calling OS thread, or null.
[[gnu::always_inline]] inline Stream* current_or_null() { return static_cast<Stream*>(os::local()); }

[[gnu::always_inline]] inline Stream& current() {
    auto* stream = current_or_null();
    WEFT_ASSERT(stream != nullptr);
    return *stream;
}

// The unit that calls, or null.
inline Unit* running_or_null() {
    auto* stream = current_or_null();
    return stream == nullptr ? nullptr : stream->running;
}

// A unit becomes ready: it goes to its pool. The caller has claimed it. `stream`: the calling one, or null.
[[gnu::always_inline]] inline void make_ready(Stream* stream, Unit& unit, pool::Place place = pool::Place::next) {
    if (stream != nullptr && unit.pool == stream->direct) [[likely]] {
        stream->direct->put(&unit);   // we are its owner, and awake: nobody to ring for
    } else {
        pool::push(*unit.pool, &unit, place);
    }
}

inline std::uint64_t Stream::counted(trace::Count which) const {
    using trace::Count;
    if (which == Count::created) return next_id.load(std::memory_order_relaxed) - first_id.load(std::memory_order_relaxed);   // relaxed: a number
    if (which != Count::run) return counters.read(which);
    return counters.read(Count::finished) + counters.read(Count::suspended) + counters.read(Count::yielded);
}

// Where units without options go by the short way. A stream that is observed has none: each of its spawns is told of.
[[gnu::always_inline]] inline void settle_homes(Stream& stream) {
    const auto home_in = [&](Pool* pool) { return pool == nullptr || stream.observed ? Stream::nowhere() : pool; };
    const bool full = stream.default_kind == Kind::full || stream.default_kind == Kind::hosted;   // which gets its stack at once, or is never called
    stream.tasklet_home = home_in(stream.direct);
    stream.ult_home = full ? Stream::nowhere() : stream.tasklet_home;
    stream.common_home = full ? Stream::nowhere() : home_in(stream.common);
}

// ULTs whose options say nothing are of that kind from now on. From the stream, or before it has begun.
inline void set_default_kind(Stream& stream, Kind kind) {
    stream.default_kind = kind;
    stream.birth_ult = Unit::birth(kind == Kind::automatic ? Kind::lsa : kind, true);
    stream.birth_common = Unit::birth(kind, false);
    if (kind == Kind::full || kind == Kind::hosted) stream.birth_ult.state = static_cast<std::uint8_t>(State::free);   // like no ready unit
    settle_homes(stream);
}

// A default stack, without a canary, that nobody stands on any more.
inline void give_stack(Stream& stream, mem::Stack* stack) {
    if (stream.spare == nullptr) return stream.keep_spare(stack);
    stream.heap->stacks.give(stack);
}

// What the stream keeps of stacks for units to start on goes back to the heap.
inline void give_spares(Stream& stream) {
    while (stream.spare != nullptr) stream.heap->stacks.give(stream.take_spare());
}

// And what it keeps for itself.
inline void give_stacks(Stream& stream) {
    give_spares(stream);
    if (mem::Stack* reserve = std::exchange(stream.reserve, nullptr)) stream.heap->stacks.give(reserve);
}

// The stream has the hart of a domain that the unit is no context of. Such a one does not run there: nothing would keep the domain meanwhile, and what it spawned would be the domain's.
bool is_out_of_place_in_domain(const Stream& stream, const Unit& unit);
inline bool is_out_of_place(const Stream& stream, const Unit& unit) { return stream.through_home && is_out_of_place_in_domain(stream, unit); }

// Somebody wants something that the stream must not sleep over.
bool has_mail(const Stream& stream);
std::uint32_t mail_of(const Stream& stream);   // the same bits of attention, for anybody: whoever is to see to them

// Asks the stream for something (bits of attention) and wakes it.
void ask(Stream& stream, std::uint32_t bits);
void unask(Stream& stream, std::uint32_t bits);

// An OS thread that makes something for the stream known, and wakes it afterwards: the stream stays until then, though what runs there may have ended.
class Waking {
public:
    explicit Waking(Stream& stream) : stream_(stream) { stream_.wakers.fetch_add(1); }
    ~Waking() { stream_.wakers.fetch_sub(1); }   // the last touch
    Waking(const Waking&) = delete;

private:
    Stream& stream_;
};

// Before the stream is freed: nobody begins to wake it any more.
void wait_for_wakers(const Stream& stream);

}  // namespace weft
