// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "share/rescue.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <new>
#include <utility>

#include "carrier/neighbours.hpp"
#include "carrier/sentry.hpp"
#include "core/attention.hpp"
#include "core/finish.hpp"
#include "core/idle.hpp"
#include "core/jobs.hpp"
#include "core/run.hpp"
#include "observe/observe.hpp"
#include "os/clock.hpp"
#include "os/process_barrier.hpp"
#include "os/safe_read.hpp"
#include "process/domain_state.hpp"
#include "process/guest_state.hpp"
#include "process/process.hpp"
#include "process/way.hpp"
#include "share/carriers.hpp"

namespace weft {

// An emergency: a carrier draws from the pools of a stream that does not come to them, as long as
// that lasts.
struct StandIn {
    Process& of;
    Unit remote_call;
    Sched* sched = nullptr;   // of the thief-safe pools among them
    std::size_t rank;         // of that stream
    Stream* const stands_for;

    // Under Rescue::lock.
    Stream* carrier = nullptr;   // null: on its way
    bool over = false;
    std::size_t turn = 0;
    StandIn* next = nullptr;

    StandIn(Process& process, std::size_t place, Stream* stream) : of(process), rank(place), stands_for(stream) {}
    bool draws_from(const Pool& pool) const {
        return std::find(sched->pools, sched->pools + sched->count, &pool) != sched->pools + sched->count;
    }
};

namespace {

// ---- standing in --------------------------------------------------------------------------------

// Under Rescue::lock.
void relieve(StandIn& one) {
    one.over = true;
    if (one.carrier != nullptr) ask(*one.carrier, attention::relieved);
}

// Each pool is checked first in its turn. Under the lock, so that a pool that is freed is no longer
// drawn from.
weft_unit* pick_in_turn(void* raw, weft_sched*) {
    auto& self = *static_cast<StandIn*>(raw);
    std::lock_guard guard(self.of.rescue.lock);
    if (self.over) return nullptr;
    const std::size_t count = self.sched->count, first = self.turn++;
    for (std::size_t i = 0; i < count; ++i) {
        if (Unit* unit = pool::pop(*self.sched->pools[(first + i) % count])) return to_handle(unit);
    }
    return nullptr;
}

bool arrives(StandIn& self, Stream& stream) {
    std::lock_guard guard(self.of.rescue.lock);
    if (self.over) return false;
    self.carrier = &stream;
    return true;
}

bool goes_on(const Stream& stream) { return !stream.asked().has(attention::relieved | attention::stop); }

void run_what_waits(Stream& stream) {
    Process& of = *stream.of;
    for (;;) {
        if (stream.wanted()) [[unlikely]]
            attend(stream);
        // a unit that another unit has left for by its name runs first: its pool may be one that no
        // stream draws from
        if (stream.next_unit == nullptr) {
            if (!goes_on(stream)) break;
            stream.next_unit = pick(stream);
        }
        if (stream.next_unit == nullptr) stream.next_unit = take_job(stream);
        if (stream.next_unit != nullptr) {
            run_next_unit(stream);
            continue;
        }
        idle(stream);
        wake_watchdog(of);   // which sees whether the emergency is over
    }
}

// The stand-in may have been woken for a unit that it has not taken, since it is not to take any
// more. hart/README.md, step 6.
void pass_wakes_on(const Sched& sched) {
    for (std::size_t i = 0; i < sched.count; ++i) {
        if (!pool::quiet(*sched.pools[i])) sched.pools[i]->idle_list.wake_one();
    }
}

// With a hart beyond the limit.
void serve_instead(StandIn& self, Stream& stream) {
    Process& of = *stream.of;
    for (std::size_t i = 0; i < self.sched->count; ++i) self.sched->places[i].belong_to(stream.sleep.sleeper);
    const Way own{stream.sched, stream.direct, stream.common, stream.standard};
    of.base.take_beyond(of.streams_root);
    stream.holds_hart = stream.role.rescues = true;
    stream.job_place.takes_from.store(&of.jobs, std::memory_order_relaxed);   // relaxed, both: see request_steals()
    trace_stream(stream, trace::Event::rescue, self.rank);
    ++stream.levels.depth;
    take_way(stream, {self.sched, nullptr, nullptr, self.sched->pools[0]});
    run_what_waits(stream);
    pass_wakes_on(*self.sched);
    --stream.levels.depth;
    take_way(stream, own);
    trace_stream(stream, trace::Event::relief, self.rank);
    give_hart_back(stream);
    stream.job_place.takes_from.store(nullptr, std::memory_order_relaxed);
    stream.role.rescues = false;
    of.base.lend_beyond(-1);
}

void unlink(Rescue& of, StandIn& one) {
    std::lock_guard guard(of.lock);
    StandIn** at = &of.stand_ins;
    while (*at != &one) at = &(*at)->next;
    *at = one.next;
}

void destroy(StandIn* one) {
    sched::destroy_uncounted(one->sched);
    os::destroy(one);
}

// The remote call's body, on a carrier, or, where the runtime ends, on any stream that finds it.
void stand_in(void* raw) {
    auto& self = *static_cast<StandIn*>(raw);
    Stream& stream = current();
    Process& of = *stream.of;
    Rescue& rescue = of.rescue;
    os::thread_set_signals(of.signals);   // the reactor, which has started it, has none
    if (arrives(self, stream)) serve_instead(self, stream);
    unlink(rescue, self);
    unask(stream, attention::relieved);
    destroy(&self);
    rescue.running.fetch_sub(1);
    carrier_is_free(rescue.carriers);
}

// ---- checking -----------------------------------------------------------------------------------

const hart::Root* root_of(const Domain* domain) {
    constexpr int deepest = 64;
    for (int depth = 0; domain != nullptr && depth < deepest; ++depth) {
        const Domain* parent = nullptr;
        if (os::safe_read(&domain->parent, &parent, sizeof parent) != sizeof parent) return nullptr;
        if (parent == nullptr) return &domain->root;
        domain = parent;
    }
    return nullptr;
}

// The root whose hart a stream has, as far as can be told: addresses, perhaps of objects that are
// gone. Null: the stream has none. For a stream in the table; the data is the stream's own, hence
// safe_read() rather than a race.
const hart::Root* holder_of(const Process& of, const Stream& stream) {
    const Domain* domain = nullptr;
    os::safe_read(&stream.serving.domain, &domain, sizeof domain);
    if (domain != nullptr) return root_of(domain);
    if (stream.role.guest != nullptr)
        return stream.role.guest->root.guest_phase.load() == hart::Root::GuestPhase::held ? &stream.role.guest->root
                                                                                          : nullptr;
    bool held = false;
    os::safe_read(&stream.holds_hart, &held, sizeof held);
    return held ? &of.streams_root : nullptr;
}

class Look {
public:
    Look(Process& of, std::uint64_t now_ns, bool first) : of_(of), rescue_(of.rescue), now_ns_(now_ns), first_(first) {}

    // Returns when the next look is due.
    std::uint64_t look() {
        StandIn* made = nullptr;
        bool lend = false, again = false;
        {
            std::lock_guard replacing(of_.replacing);   // a stream's scheduler stays
            std::lock_guard guard(of_.lock);
            if (!make_room()) return later();
            std::lock_guard own(rescue_.lock);
            rescue_.check();
            note_first();
            feel_pulses();
            see_to_stand_ins();
            if (stuck_ != 0) see_to_pools();
            see_to_domains();
            if (rescue_.of_pools.look(now_ns_, worst_ != nullptr, blocked_since()) && !first_)
                made = decide_for_pool(again);
            if (rescue_.of_domains.look(now_ns_, roots_stuck_, roots_blocked_since_ns_) && !first_)
                lend = decide_for_domains();
            note_calm();
        }
        if (rescue_.calm >= Rescue::calm_looks && settle_down()) return os::forever;
        if (made != nullptr && !send(*made)) again = true;
        if ((made != nullptr && !again) || lend) rescue_.expecting = Rescue::arrival_looks;
        if (again) rescue_.of_pools.not_helped();
        lend_harts(lend);
        return later();
    }

private:
    std::uint64_t later() {
        const std::uint64_t next_ns = now_ns_ + (rescue_.expecting != 0 ? Rescue::arrival_ns : rescue_.look_every_ns());
        rescue_.look_ns.store(next_ns);
        return next_ns;
    }

    bool make_room() {
        if (rescue_.watched == nullptr)
            rescue_.watched = static_cast<Watched*>(os::allocate(Process::most_streams * sizeof(Watched)));
        if (rescue_.watched == nullptr) return false;
        while (rescue_.watched_count < of_.ranks_used) new (&rescue_.watched[rescue_.watched_count++]) Watched();
        return true;
    }

    void note_first() {
        rescue_.looks.fetch_add(1);
        if (!first_) return;
        rescue_.calm = 0;
        rescue_.of_pools.begin();
        rescue_.of_domains.begin();
    }

    Watched& at(std::size_t rank) { return rescue_.watched[rank]; }

    void feel_pulses() {
        for (std::size_t rank = 0; rank < rescue_.watched_count; ++rank) {
            Watched& one = at(rank);
            Stream* stream = rank < of_.ranks_used ? of_.streams[rank] : nullptr;
            if (stream != nullptr && stream->ending.join_state.done())
                stream = nullptr;   // and its scheduler may be gone
            if (stream != one.stream) one = {.stream = stream};
            one.stand_in = one.stands_in = nullptr;
            if (stream == nullptr || stream->carrier.thread_id.load() == 0) continue;
            if (stream->role.guest != nullptr) ++guests_;
            const bool paused = stream->asked().has(attention::pause | attention::exit);
            one.heart.look(
                now_ns_, !paused && holder_of(of_, *stream) != nullptr, stream->counted(trace::Count::run),
                [&](std::uint64_t& ns) { return os::thread_time(stream->carrier.thread_id.load(), ns); },
                [&] { return os::thread_doing(stream->carrier.thread_id.load(), one.call); });
            if (one.heart.stuck()) {
                ++stuck_;
                // The stream carries a hart of another root, and its own unit has been given one
                // meanwhile, which no other OS thread may use.
                if (stream->role.guest != nullptr &&
                    stream->role.guest->root.guest_phase.load() == hart::Root::GuestPhase::ready)
                    ++stuck_;
                if (waits_for_it(*stream)) ++stuck_;
            } else if (!paused && stream->role.guest == nullptr) {
                // not a guest's: its thread may be outside, or go there at any time, and then its
                // timers are not checked
                free_ = stream;
            }
        }
    }

    // A domain's hart has been sent to the stream, which no other OS thread may use.
    static bool waits_for_it(const Stream& stream) { return stream.serving.returned.load() != nullptr; }

    void see_to_stand_ins() {
        for (StandIn* one = rescue_.stand_ins; one != nullptr; one = one->next) {
            if (one->carrier != nullptr) {
                Watched& carrier = at(one->carrier->rank);
                carrier.stands_in = one;
                if (carrier.heart.switched() && !first_) rescue_.of_pools.relieved();
                awake_ |= carrier.heart.now() != hart::Pulse::rests;
            } else {
                awake_ = on_its_way_ = true;
            }
            // the stand-in may be stuck itself, in a unit of the program, while the stream is stuck
            // anew
            if (one->over) continue;
            Watched& other = at(one->rank);
            if (other.stream == one->stands_for && other.heart.stuck()) {
                other.stand_in = one;
            } else {
                relieve(*one);
            }
        }
        rescue_.expecting = on_its_way_ && rescue_.expecting != 0 ? rescue_.expecting - 1 : 0;
    }

    // The pools that the stream draws from when it comes; null: none that other streams might draw
    // from.
    const Sched* drawn_by(const Watched& one) const {
        if (one.stands_in != nullptr) return one.stands_in->over ? nullptr : one.stands_in->sched;
        return one.stream == nullptr || one.stream->role.hidden ? nullptr : one.stream->levels.main;
    }

    template <class Do>
    void each_pool(const Watched& one, Do act) {
        const Sched* const sched = drawn_by(one);
        if (sched == nullptr) return;
        for (std::size_t i = 0; i < sched->count; ++i) {
            if (pool::thief_safe(*sched->pools[i])) act(*sched->pools[i]);
        }
    }

    // Units sleep on the stream's timers, and their time has come.
    bool due(const Watched& one) const { return one.heart.stuck() && one.stream->heap->timers.earliest() <= now_ns_; }

    void see_to_pools() {
        ++rescue_.round;
        for (std::size_t rank = 0; rank < rescue_.watched_count; ++rank) {
            const Watched& one = at(rank);
            const bool late = one.stream != nullptr && due(one);
            each_pool(one, [&](Pool& pool) { note_server(pool.served, one, rank, late); });
        }
        for (std::size_t rank = 0; rank < rescue_.watched_count; ++rank) {
            each_pool(at(rank), [&](Pool& pool) { see_to_pool(pool); });
            if (at(rank).stream != nullptr && due(at(rank))) wake_sleepers(at(rank));
        }
    }

    void note_server(Served& served, const Watched& one, std::size_t rank, bool late) {
        if (served.round != rescue_.round) {
            served = {};
            served.round = rescue_.round;
        }
        ++(one.stands_in == nullptr ? served.streams : served.stand_ins);
        served.servers.add(one.heart.now(), one.heart.since_ns(), one.stand_in != nullptr);
        served.due |= late;
        if (!one.heart.stuck() || one.stand_in != nullptr) return;
        if (served.stuck && at(served.stuck_rank).heart.now() == hart::Pulse::blocks) return;
        served.stuck_rank = rank;
        served.stuck = true;
    }

    // The units of one stream never run at once: a program with a pool that one stream alone draws
    // from may rely on that, as with a private pool.
    bool shared(const Served& served) const { return served.streams >= rescue_.least_streams(); }

    void see_to_pool(Pool& pool) {
        const Served& served = pool.served;
        const bool waits = !pool::quiet(pool) || served.due;
        if (!waits || !shared(served) || !served.servers.stuck() || !served.stuck) return;
        const bool blocked = served.servers.blocked != 0;
        if (worst_ != nullptr && blocked != (worst_->servers.blocked != 0)) {
            if (blocked) worst_ = &served;
        } else if (worst_ == nullptr || served.stand_ins < worst_->stand_ins) {
            worst_ = &served;
        }
    }

    // A stand-in on its way may run everything that waits.
    std::uint64_t blocked_since() const {
        return worst_ == nullptr || on_its_way_ ? 0 : worst_->servers.blocked_since_ns;
    }

    // Any stream that comes to its timers may have those of the stuck stream. Where no stream does,
    // a new stand-in will, for the pools of the stream that has the timers. A carrier, and a
    // stand-in that has been called back, have no pools, and their timers go to a stream that has
    // some.
    void wake_sleepers(const Watched& one) {
        late_ = true;
        Stream* const to = free_ == nullptr && drawn_by(one) == nullptr ? of_.streams[0] : free_;
        if (to == nullptr || to == one.stream) return;
        one.stream->heap->timers.move_to(to->heap->timers);
        ask(*to, attention::alarm);
    }

    void see_to_domains() {
        const hart::Root* lacking[16];
        lacking_ = of_.base.lacking(lacking, 16);
        if (lacking_ == 0) return;
        hart::Servers all;
        hart::Servers own[16];
        for (std::size_t rank = 0; rank < rescue_.watched_count; ++rank) {
            const Watched& one = at(rank);
            if (one.stream == nullptr) continue;
            // it may move forever, and lends its hart to no other stream
            if (one.stands_in != nullptr && one.heart.now() < hart::Pulse::stands) continue;
            all.add(one.heart.now(), one.heart.since_ns(), one.stand_in != nullptr);
            if (one.heart.stuck() && waits_for_it(*one.stream)) all.add(one.heart.now(), one.heart.since_ns(), false);
            const std::size_t which =
                static_cast<std::size_t>(std::find(lacking, lacking + lacking_, holder_of(of_, *one.stream)) - lacking);
            if (which == lacking_) continue;
            own[which].add(one.heart.now(), one.heart.since_ns(), false);
            if (rescue_.lent != 0 && one.heart.switched() && !first_) rescue_.of_domains.relieved();
        }
        for (std::size_t i = 0; i < lacking_; ++i) {
            const hart::Servers& served = own[i].awake != 0 ? own[i] : all;
            // Streams that compute where harts are withheld do so on purpose, and the reactor
            // checks for how long.
            roots_stuck_ |= (served.awake != 0 && served.moving == 0 && of_.neighbours.withheld.load() == 0) ||
                            all.standing > rescue_.lent;
        }
        if (all.blocked > rescue_.lent) roots_blocked_since_ns_ = all.blocked_since_ns;
    }

    // ---- deciding ----

    // `helping`: OS threads and harts that already help in this way.
    bool may_help(std::size_t helping) {
        if (rescue_.closed) return false;
        if (!rescue_.helps()) {
            tell("without rescue it waits until one of them switches (WEFT_RESCUE=on lets other OS threads run it)");
            return false;
        }
        const std::size_t bound = of_.settings.values.rescue_bound;
        if (bound == 0) return helping < live_contexts();
        if (rescue_.running.load() < bound) return true;
        rescue_.refused.fetch_add(1);
        tell(
            "as many OS threads rescue as may (WEFT_RESCUE_BOUND, weft_settings.rescue_bound), and they are stuck, "
            "too: allow more");
        return false;
    }

    // Includes the primary unit.
    std::size_t live_contexts() const {
        return 1 + guests_ +
               static_cast<std::size_t>(sum(of_, trace::Count::created) + sum(of_, trace::Count::revived) -
                                        sum(of_, trace::Count::finished));
    }

    // Null: nothing is to be done, or there is no memory.
    StandIn* decide_for_pool(bool& again) {
        if (!may_help(rescue_.running.load() - rescue_.lent)) return nullptr;
        StandIn* const made = make(worst_->stuck_rank);
        again = made == nullptr;
        return made;
    }

    StandIn* make(std::size_t rank) {
        Pool* pools[Process::most_streams];
        std::size_t count = 0;
        each_pool(at(rank), [&](Pool& pool) { pools[count++] = &pool; });
        auto* const made = os::make<StandIn>(of_, rank, at(rank).stream);
        if (made == nullptr) return nullptr;
        weft_sched_ops ops{};
        ops.size = sizeof ops;
        ops.pick = pick_in_turn;
        made->sched = sched::create_uncounted(WEFT_SCHED_USER, &ops, made, pools, count);
        if (made->sched == nullptr) {
            os::destroy(made);
            return nullptr;
        }
        made->next = rescue_.stand_ins;
        rescue_.stand_ins = made;
        return made;
    }

    // Without a lock.
    bool send(StandIn& made) {
        rescue_.emergencies.fetch_add(1);
        rescue_.running.fetch_add(1);
        if (send_remote_call(rescue_.carriers, made.remote_call, stand_in, &made)) return true;
        rescue_.emergencies.fetch_sub(1);
        rescue_.running.fetch_sub(1);
        unlink(rescue_, made);
        destroy(&made);
        return false;
    }

    bool decide_for_domains() { return may_help(rescue_.lent); }

    // Each stuck hart is worth one hart beyond the limit, for as long as it is stuck.
    void lend_harts(bool one_more) {
        std::size_t wanted = std::min(rescue_.lent, stuck_);
        if (one_more) {
            ++wanted;
            rescue_.emergencies.fetch_add(1);
        }
        const auto change = static_cast<std::ptrdiff_t>(wanted) - static_cast<std::ptrdiff_t>(rescue_.lent);
        if (change == 0) return;
        rescue_.lent = wanted;
        rescue_.running.fetch_add(static_cast<std::size_t>(change));
        of_.base.lend_beyond(change);
    }

    // ---- being done ----

    bool anything_waits() const {
        if (of_.base.lacks()) return true;
        for (const Pool* pool = of_.pools; pool != nullptr; pool = pool->next) {
            const unsigned few = rescue_.all() ? 0 : Pool::of_one_stream;
            if (pool::thief_safe(*pool) && pool->drawers.load() > few && !pool::quiet(*pool)) return true;
        }
        return false;
    }

    // The owner of a deque keeps its units to itself, and no stream looks for what it leaves.
    bool some_unwatched() const {
        for (const Pool* pool = of_.pools; pool != nullptr; pool = pool->next) {
            if (pool::thief_safe(*pool) && pool::has_declined(*pool) && !pool::is_watched(*pool)) return true;
        }
        return false;
    }

    void note_calm() {
        const bool busy =
            awake_ || late_ || worst_ != nullptr || lacking_ != 0 || rescue_.lent != 0 || anything_waits();
        rescue_.calm = busy ? 0 : rescue_.calm + 1;
    }

    // Back on the idle lists, if nothing has come meanwhile. hart/README.md, "Going to sleep and
    // being woken": the numbers are the steps there.
    bool settle_down() {
        probe(Probe::watch_before_listening);
        rescue_.sleeper.rise();
        rescue_.look_ns.store(os::forever);
        rescue_.sleeper.prepare();   // 1
        std::lock_guard guard(of_.lock);
        bool barrier = false;
        for (Pool* pool = of_.pools; pool != nullptr; pool = pool->next) {   // 2
            watch_pool(of_, *pool);
            barrier |= pool::request_steal(*pool, nullptr);   // once more, for its answer
        }
        if (barrier) os::process_barrier();
        if (anything_waits() || some_unwatched()) {   // 3
            rescue_.sleeper.cancel();                 // 4a
            return false;
        }
        return rescue_.sleeper.lie_down();   // 4b
    }

    void tell(const char* remedy);

    Process& of_;
    Rescue& rescue_;
    const std::uint64_t now_ns_;
    const bool first_;                // the first look: what it finds is what the next one compares with
    std::size_t stuck_ = 0;           // harts
    std::size_t guests_ = 0;          // OS threads of the program that have been inside
    Stream* free_ = nullptr;          // a stream that is not stuck
    bool late_ = false;               // units sleep on a stream that is stuck, and their time has come
    bool on_its_way_ = false;         // a stand-in for a stuck stream
    bool awake_ = false;              // a stand-in is there, and runs something
    const Served* worst_ = nullptr;   // of the stuck pools, the one with the fewest stand-ins
    std::size_t lacking_ = 0;         // roots that want more harts
    bool roots_stuck_ = false;
    std::uint64_t roots_blocked_since_ns_ = 0;   // more harts are blocked than are lent, the first of them since then
};

// Reports once which thread stands where.
void Look::tell(const char* remedy) {
    if (std::exchange(rescue_.told, true)) return;
    char text[4096];
    std::size_t length = 0;
    const auto line = [&](const char* format, auto... values) {
        const int bytes = std::snprintf(text + length, sizeof text - length, format, values...);
        if (bytes > 0) length = std::min(length + static_cast<std::size_t>(bytes), sizeof text - 1);
    };
    line("%s", "weft: what could run waits for harts that do not switch:\n");
    for (std::size_t rank = 0; rank < rescue_.watched_count; ++rank) {
        const Watched& one = at(rank);
        if (one.stream == nullptr || !one.heart.stuck()) continue;
        char name[sizeof one.stream->name] = {};
        os::safe_read(one.stream->name, name, sizeof name - 1);
        const Unit* running = nullptr;
        os::safe_read(&one.stream->running, &running, sizeof running);
        alignas(Unit) unsigned char unit[sizeof(Unit)];
        line("  stream %zu '%s', OS thread %u", rank, name, one.stream->carrier.thread_id.load());
        if (running != nullptr && os::safe_read(running, unit, sizeof unit) == sizeof unit) {
            const Unit& of = *reinterpret_cast<const Unit*>(unit);
            line(", runs unit %llu '%.*s'", static_cast<unsigned long long>(of.id),
                 static_cast<int>(sizeof of.name - 1), of.name);
        }
        line(": %s for %.2f s\n",
             one.heart.now() >= hart::Pulse::stands ? "it uses no time, and has not switched" : "it has not switched",
             static_cast<double>(now_ns_ - one.heart.since_ns()) / 1e9);
    }
    line("weft: %s; calls that block go by weft_blocking, and what is waited for by weft's own means lets others run\n",
         remedy);
    std::fwrite(text, 1, length, stderr);
}

void called(Sleeper& self) {
    Process& of = ProcessSleeper::process_of(self);
    of.rescue.look_ns.store(0);
    // A thread that is refused once may be had the next moment, and this function may not be called
    // again.
    if (!of.reactor.watch(0) && of.reactor.thread_there()) of.reactor.watch(0);
}

}   // namespace

Rescue::Rescue(Process& of)
    : mode(of.settings.values.rescue),
      sleeper(of, called),
      carriers{of, "weft/rescue", Carriers::What::rescue},
      of_pools(look_every_ns(), helps() ? longest_wait_ns : report_after_ns),
      of_domains(look_every_ns(), helps() ? longest_wait_ns : report_after_ns) {}

Rescue::~Rescue() { os::release(watched); }

void begin_rescue(Process& of) {
    if (of.rescue.mode == WEFT_RESCUE_IGNORE) return;
    of.rescue.sleeper.prepare();
    of.rescue.sleeper.lie_down();
}

void end_rescue(Process& of) {
    {
        std::lock_guard guard(of.rescue.carriers.lock);
        of.rescue.carriers.closed = true;
    }
    static_cast<void>(end_sentry(of));
    std::lock_guard guard(of.rescue.lock);
    of.rescue.closed = true;
    for (StandIn* one = of.rescue.stand_ins; one != nullptr; one = one->next) relieve(*one);
}

void wake_watchdog(Process& of) { of.rescue.sleeper.wake(); }

void watch_anew(Process& of, const Stream& late) {
    // The timers of the program's only stream are its own. A carrier's are those of contexts of
    // domains, for which other carriers can be had.
    if (!late.role.hidden && of.jobs.streams.load() < of.rescue.least_streams()) return;
    of.rescue.calm = 0;
    wake_watchdog(of);
}

void watch_pool(Process& of, Pool& pool) {
    if (of.rescue.mode == WEFT_RESCUE_IGNORE || of.jobs.streams.load() < of.rescue.least_streams()) return;
    if (!pool::thief_safe(pool)) return;
    pool.idle_list.remove(pool.watch);
    pool.watch.belong_to(of.rescue.sleeper);
    pool.idle_list.add_reserve(pool.watch);
    pool::request_steal(pool, nullptr);
}

void watch_pools(Process& of, std::size_t streams) {
    if (streams != of.rescue.least_streams()) return;
    bool waits = false;
    for (Pool* pool = of.pools; pool != nullptr; pool = pool->next) {
        watch_pool(of, *pool);
        waits |= pool::thief_safe(*pool) && !pool::quiet(*pool);
    }
    if (waits) wake_watchdog(of);
}

void forget_pool(Process& of, Pool& pool) {
    pool.idle_list.remove(pool.watch);
    std::lock_guard guard(of.rescue.lock);
    for (StandIn* one = of.rescue.stand_ins; one != nullptr; one = one->next) {
        if (one->draws_from(pool)) relieve(*one);
    }
}

std::uint64_t watch_over(Process& of, std::uint64_t now_ns) {
    const std::uint64_t due_ns = of.rescue.look_ns.load();
    return due_ns > now_ns ? due_ns : Look(of, now_ns, due_ns == 0).look();
}

}   // namespace weft
