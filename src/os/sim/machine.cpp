// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/sim/machine.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/arch.hpp"
#include "os/error_text.hpp"
#include "os/local.hpp"
#include "os/sim/store_buffer.hpp"
#include "weft/sim.hpp"

namespace weft::sim {

void* local_word = nullptr;
unsigned harts_alive = 1;
std::string (*machine_quiet)() = nullptr;
void (*machine_describe)(std::string& text) = nullptr;
bool machine_excuses = false;

namespace detail {
std::int64_t countdown = std::numeric_limits<std::int64_t>::max();
bool buffering = false;
}   // namespace detail

namespace {

constexpr std::uint64_t step_ns = 20;
constexpr std::uint64_t pause_ns = 100;
constexpr std::uint64_t call_ns = 200;            // a system call
constexpr std::uint64_t idle_pause_ns = 20'000;   // while all others wait: time passes for them
// In a timed run: a pause, a system call, and from a wake until the woken hart runs.
constexpr std::uint64_t timed_pause_ns = 15, timed_call_ns = 300, timed_wake_ns = 3'000;
constexpr std::uint64_t near_ns = 20'000'000;   // a deadline that may expire early
// Steps of one hart while others could run: no hart runs forever. The number is halved each time
// that a hart reaches it, since a loop that waits without saying so (a unit that yields on a stream
// of its own) costs that many steps each turn.
constexpr std::uint64_t longest_stint = 20'000, least_longest_stint = 200;
constexpr std::size_t most_harts = 4096;
constexpr std::size_t least_stack = 512 * 1024;   // tests' own code runs on it

// What a thread pointer leads to.
struct ThreadBlock {
    int error = 0;
    os::ExceptionGlobals exceptions{};
};

struct Hart {
    std::uint16_t number = 0;
    enum class State : std::uint8_t { ready, waits, ended } state = State::ready;
    Wait waits_for = Wait::futex;
    bool woken = false;
    const void* waits_on = nullptr;
    std::uint64_t deadline_ns = forever;
    std::uint64_t waits_since = 0;   // a number that grows

    void* context = nullptr;
    void* stack = nullptr;
    std::size_t stack_bytes = 0;
    void (*body)(void*) = nullptr;
    void* argument = nullptr;

    // What an OS thread has of its own.
    void* local = nullptr;
    ThreadBlock own;
    ThreadBlock* block = &own;              // the block that it runs with; null: it is parked, and touches none
    arch::FloatingPoint floating_point{};   // its value while it does not run
    void* kept = nullptr;
    void (*at_end)(void*) = nullptr;
    os::CpuSet cpus;
    char error_text[os::error_text_bytes] = "";

    std::uint64_t steps = 0;
    std::uint64_t time_ns = 0;   // in a timed run: how far it has come
    StoreBuffer stores;
    unsigned hold = 0;   // switches until its stores become visible
    unsigned out = 0;    // decisions until it may run again, unless no other hart can

    const char* last_what = "start";
    weft::location last_where;
};

struct Machine {
    Limits limits;
    Strategy* strategy = nullptr;
    Record* record = nullptr;
    std::vector<std::unique_ptr<Hart>> harts;
    Hart* running = nullptr;
    std::uint64_t total = 0;
    std::int64_t armed = 0;   // the value of countdown when `total` was last updated
    std::uint64_t clock_ns = 1'000'000'000;
    std::uint64_t earliest_ns = forever;
    std::uint64_t waits = 0;
    std::uint64_t longest = longest_stint;
    std::uint64_t stint_ends = longest_stint;   // a step count at which the running hart lets others run
    std::vector<std::uint16_t> ready, rousable;
    bool silent = false;   // the machine reads the library's data: no step
    std::jmp_buf given_up;
    std::unique_ptr<Costs> costs;   // of a timed run

    void account();
    void arm();
    View view();
    void expire();
    void note_step(const char* what, const void* word, const weft::location& where);
    void step(const char* what, const void* word, const weft::location& where);
    [[noreturn]] void too_many_steps();
    // `frame`: of the function through which the hart called in here; below it the hart's stack
    // holds only the machine's frames.
    void decide_at(Moment moment, const void* frame);
    Hart* plain_next();
    Hart* earliest();
    void spend(std::uint64_t ns);
    void step_in_time(std::uint64_t ns, const char* what, const void* word, const weft::location& where,
                      const void* frame);
    void leave_for(Hart& next, unsigned keep, unsigned hold, const void* frame);
    void one_decision_more();
    Hart* chosen(Moment moment, const Deviation& made, Hart* plainly);
    void note(const Deviation& made);
    void run(Hart& next, unsigned keep, unsigned hold);
    void leave(Hart& hart, unsigned keep, unsigned hold);
    void empty_other_buffers();
    void arrive(Hart& hart);
    Hart& next_ready();
    void ready_again(Hart& hart, bool woken);
    [[noreturn]] void stuck();
};

Machine* machine = nullptr;

// ---- counting -----------------------------------------------------------------------------------

void Machine::account() {
    const std::int64_t done = armed - detail::countdown;
    armed = detail::countdown;
    total += static_cast<std::uint64_t>(done);
    running->steps += static_cast<std::uint64_t>(done);
    if (costs == nullptr) clock_ns += static_cast<std::uint64_t>(done) * step_ns;
}

// After account().
void Machine::arm() {
    // Each is the number of steps before the one that needs a check: it is the same step whether
    // all steps are checked (for the table of steps) or not.
    auto before = [](std::uint64_t now, std::uint64_t then, std::uint64_t each) {
        return then > now ? (then - now - 1) / each : 0;
    };
    if (costs != nullptr) {
        detail::countdown = armed = 0;
        return;
    }
    std::uint64_t free = limits.trace ? 0 : strategy->free_steps(view());
    free = std::min(free, before(total, limits.most_steps, 1));
    free = std::min(free, before(total, stint_ends, 1));
    if (earliest_ns != forever) free = std::min(free, before(clock_ns, earliest_ns, step_ns));
    detail::countdown = armed = static_cast<std::int64_t>(free);
}

View Machine::view() {
    ready.clear();
    rousable.clear();
    for (const auto& hart : harts) {
        if (hart.get() == running) continue;
        if (hart->state == Hart::State::ready && hart->out == 0) ready.push_back(hart->number);
        if (hart->state == Hart::State::waits && hart->waits_for == Wait::futex) rousable.push_back(hart->number);
    }
    View made;
    made.total = total;
    made.step = running->steps;
    made.hart = made.plainly = running->number;
    made.buffered = running->stores.count();
    made.ready = ready.data();
    made.ready_count = ready.size();
    made.rousable = rousable.data();
    made.rousable_count = rousable.size();
    made.deadline_near = earliest_ns != forever && earliest_ns < clock_ns + near_ns;
    return made;
}

void Machine::ready_again(Hart& hart, bool woken) {
    hart.state = Hart::State::ready;
    hart.woken = woken;
    hart.waits_on = nullptr;
    hart.deadline_ns = forever;
    hart.time_ns = clock_ns + timed_wake_ns;
    if (strategy->became_ready(hart.number) && running != nullptr) {
        account();
        detail::countdown = armed = 0;
    }
}

// Handles deadlines that have expired.
void Machine::expire() {
    if (clock_ns < earliest_ns) return;
    earliest_ns = forever;
    for (const auto& hart : harts) {
        if (hart->state != Hart::State::waits || hart->deadline_ns == forever) continue;
        if (hart->deadline_ns <= clock_ns) {
            ready_again(*hart, false);
        } else {
            earliest_ns = std::min(earliest_ns, hart->deadline_ns);
        }
    }
}

// Whether Weft's own code makes a step there: a system call by Weft has no location, and an
// operation's location is one of Weft's sources or headers. An operator of weft::sim::atomic has no
// location but sim.hpp, and belongs to the program.
bool is_wefts(const weft::location& where) {
    if (where.line() == 0) return true;
    static constexpr std::string_view self = __builtin_FILE(), name = "src/os/sim/machine.cpp";
    static constexpr std::string_view root = self.ends_with(name) ? self.substr(0, self.size() - name.size()) : self;
    const std::string_view file = where.file_name();
    if (file.ends_with("/weft/sim.hpp")) return false;
    return (file.starts_with(root) && file.substr(root.size()).starts_with("src/")) ||
           file.find("/include/weft/") != std::string_view::npos;
}

void Machine::note_step(const char* what, const void* word, const weft::location& where) {
    running->last_what = what;
    running->last_where = where;
    if (!limits.trace) return;
    if (!limits.weft_steps && is_wefts(where)) {
        ++record->left_out;
        ++record->all_left_out;
        return;
    }
    Traced& at = record->traced[record->traced_count++ % Record::most_traced];
    at = {total, clock_ns, what, word, where.file_name(), where.line(), running->number, record->left_out};
    record->left_out = 0;
}

// ---- deciding -----------------------------------------------------------------------------------

void Machine::note(const Deviation& made) {
    if (record->deviation_count < Record::most_deviations) record->deviations[record->deviation_count] = made;
    ++record->deviation_count;
}

// The next hart that could run, in the order of their numbers; the running one only when there is
// no other, and one that is out only when the running one cannot run either.
Hart* Machine::plain_next() {
    Hart* out = nullptr;
    for (std::size_t i = 1; i < harts.size(); ++i) {
        Hart& hart = *harts[(running->number + i) % harts.size()];
        if (hart.state != Hart::State::ready) continue;
        if (hart.out == 0) return &hart;
        if (out == nullptr) out = &hart;
    }
    return running->state == Hart::State::ready ? running : out;
}

// In a timed run: the hart that has come least far; null: all wait.
Hart* Machine::earliest() {
    Hart* first = nullptr;
    for (const auto& hart : harts) {
        if (hart->state != Hart::State::ready) continue;
        if (first == nullptr || hart->time_ns < first->time_ns) first = hart.get();
    }
    return first;
}

void Machine::spend(std::uint64_t ns) {
    running->time_ns += ns;
    clock_ns = running->time_ns;
}

// In a timed run, after account(): a step that takes so long. Then the hart that has come least far
// runs.
void Machine::step_in_time(std::uint64_t ns, const char* what, const void* word, const weft::location& where,
                           const void* frame) {
    spend(ns);
    step(what, word, where);
    leave_for(*earliest(), 0, 0, frame);
    arm();
}

// `next` runs, which may be the running one. `frame` is decide_at()'s.
void Machine::leave_for(Hart& next, unsigned keep, unsigned hold, const void* frame) {
    if (&next == running) return;
    // Objects that no longer exist lay on its stack where the machine's frames lie now: releasing
    // the stores to them keeps these frames as they are.
    running->stores.let_go(static_cast<const char*>(__builtin_frame_address(0)) - 4096,
                           static_cast<const char*>(frame) + 2 * sizeof(void*));
    run(next, keep, hold);
}

void Machine::one_decision_more() {
    for (const auto& hart : harts) {
        if (hart->out > 0) --hart->out;
    }
}

// Carries the decision out, and returns the hart that runs after it. An impossible decision (the
// course differs from the one it was made in) becomes the plain one.
Hart* Machine::chosen(Moment moment, const Deviation& made, Hart* plainly) {
    switch (made.act) {
    case Act::none: return plainly;
    case Act::go: {
        if (made.to >= harts.size() || harts[made.to]->state != Hart::State::ready) return plainly;
        return harts[made.to].get();
    }
    case Act::jump: {
        if (earliest_ns == forever) return plainly;
        clock_ns = std::max(clock_ns, earliest_ns);
        for (const auto& hart : harts) {
            if (hart->state != Hart::State::waits || hart->deadline_ns > clock_ns) continue;
            expire();
            return hart.get();
        }
        return plainly;
    }
    case Act::rouse: {
        if (made.to >= harts.size()) return plainly;
        Hart& hart = *harts[made.to];
        if (hart.state != Hart::State::waits || hart.waits_for != Wait::futex) return plainly;
        ready_again(hart, true);
        return &hart;
    }
    }
    return plainly;
}

// At a point or a pause: decides which hart runs now.
void Machine::decide_at(Moment moment, const void* frame) {
    if (moment == Moment::pause) one_decision_more();
    Deviation made;
    made.moment = moment;
    made.hart = running->number;
    made.step = running->steps;
    View seen = view();
    Hart* const plainly = moment == Moment::point ? running : plain_next();
    seen.plainly = plainly->number;
    strategy->decide(moment, seen, made);
    Hart* next = chosen(moment, made, plainly);
    if (made.act != Act::none) note(made);
    if (next != running) running->out = made.out;
    leave_for(*next, made.keep, made.hold, frame);
    account();
    arm();
}

// ---- thread pointers ----------------------------------------------------------------------------

os::ExceptionGlobals& exceptions_here() { return *reinterpret_cast<os::ExceptionGlobals*>(abi::__cxa_get_globals()); }

void store_block(const Hart& hart) {
    if (hart.block != nullptr) *hart.block = {errno, exceptions_here()};
}

void load_block(const Hart& hart) {
    if (hart.block == nullptr) return;
    exceptions_here() = hart.block->exceptions;
    errno = hart.block->error;
}

// ---- switching ----------------------------------------------------------------------------------

void Machine::leave(Hart& hart, unsigned keep, unsigned hold) {
    hart.local = local_word;
    hart.floating_point = arch::floating_point();
    store_block(hart);
    const std::size_t kept = hold == 0 ? 0 : std::min<std::size_t>(keep, hart.stores.count());
    hart.stores.let_go(hart.stores.count() - kept);
    hart.hold = hold;
    hart.stores.roll_back();
    // Stores that others have kept long enough become visible now.
    for (const auto& other : harts) {
        if (other.get() == &hart || other->stores.count() == 0 || (other->hold > 0 && --other->hold > 0)) continue;
        other->stores.bring_forward();
        other->stores.let_all_go();
    }
}

void Machine::empty_other_buffers() {
    for (const auto& other : harts) {
        if (other.get() == running) continue;
        other->stores.bring_forward();
        other->stores.let_all_go();
    }
}

void Machine::arrive(Hart& hart) {
    one_decision_more();
    running = &hart;
    if (costs != nullptr) clock_ns = hart.time_ns;
    hart.out = 0;
    stint_ends = total + longest;
    local_word = hart.local;
    arch::set_floating_point(hart.floating_point, arch::floating_point());
    hart.stores.bring_forward();
    load_block(hart);
}

// noinline: see arch/x86_64/context.hpp.
[[gnu::noinline]] void swap_to(void** saved, void* next) { arch::swap(saved, next, {nullptr, nullptr}); }

void Machine::run(Hart& next, unsigned keep, unsigned hold) {
    Hart& self = *running;
    account();
    leave(self, keep, hold);
    arrive(next);
    account();
    arm();
    swap_to(&self.context, next.context);
}

// The machine reads the library's data, through the library's own code, without a step. If that
// code reaches a lock that a hart holds, the attempt is given up.
template <class Look>
void look_silently(Look look) {
    const std::int64_t countdown = std::exchange(detail::countdown, std::numeric_limits<std::int64_t>::max());
    const bool buffering = std::exchange(detail::buffering, false);
    machine->silent = true;
    if (setjmp(machine->given_up) == 0) look();
    machine->silent = false;
    detail::countdown = countdown;
    detail::buffering = buffering;
}

// The next hart when the running one waits or has ended. When all wait, time advances to the
// earliest deadline.
Hart& Machine::next_ready() {
    for (;;) {
        ++running->steps;   // each decision has a number of its own
        ++total;
        Deviation made;
        made.moment = Moment::block;
        made.hart = running->number;
        made.step = running->steps;
        View seen = view();
        if (costs != nullptr) {
            if (Hart* const next = earliest()) return *next;
        } else if (Hart* const plainly = plain_next()) {
            seen.plainly = plainly->number;
            strategy->decide(Moment::block, seen, made);
            if (made.act != Act::none) note(made);
            return *chosen(Moment::block, made, plainly);
        }
        if (machine_quiet != nullptr) {
            empty_other_buffers();   // what is still on its way has arrived by now
            std::string wrong;
            look_silently([&] { wrong = machine_quiet(); });
            if (!wrong.empty()) machine_fail(End::invariant, wrong);
        }
        if (earliest_ns == forever) stuck();
        clock_ns = std::max(clock_ns, earliest_ns);
        expire();
    }
}

void end_what_is_kept() {
    Hart& self = *machine->running;
    while (void* const kept = std::exchange(self.kept, nullptr)) self.at_end(kept);
}

void hart_main(void (*)(void*), void*) {
    Hart& self = *machine->running;
    self.body(self.argument);
    end_what_is_kept();
    machine->account();
    self.stores.let_all_go();
    self.state = Hart::State::ended;
    --harts_alive;
    wake(&self, ~std::size_t{0});
    Hart& next = machine->next_ready();
    machine->leave(self, 0, 0);
    machine->arrive(next);
    machine->account();
    machine->arm();
    swap_to(&self.context, next.context);
    std::abort();   // no hart switches to a hart that has ended
}

std::string text_of(const weft::location& where) {
    std::string file = where.file_name();
    const std::size_t at =
        file.rfind('/', file.rfind('/') == std::string::npos ? std::string::npos : file.rfind('/') - 1);
    if (at != std::string::npos) file.erase(0, at + 1);
    return file + ":" + std::to_string(where.line());
}

void describe_harts(std::string& text) {
    for (const auto& hart : machine->harts) {
        char line[256];
        const char* const state = hart->state == Hart::State::ended   ? "has ended"
                                  : hart->state == Hart::State::ready ? "runs or could run"
                                  : hart->waits_for == Wait::futex    ? "waits for a futex"
                                  : hart->waits_for == Wait::time     ? "sleeps"
                                                                      : "waits for the end of another";
        std::snprintf(line, sizeof line, "  hart %u: %s; %llu steps; last: %s", hart->number, state,
                      static_cast<unsigned long long>(hart->steps), hart->last_what);
        text += line;
        if (hart->last_where.line() != 0) text += " at " + text_of(hart->last_where);
        text += '\n';
    }
    if (machine_describe == nullptr) return;
    look_silently([&] { machine_describe(text); });
}

void Machine::too_many_steps() {
    std::string text = "it never ends: " + std::to_string(total) + " steps\n";
    describe_harts(text);
    machine_fail(End::steps, text);
}

// The step that is being made, after account(): records it, and handles what has become due with
// it.
void Machine::step(const char* what, const void* word, const weft::location& where) {
    note_step(what, word, where);
    if (total >= limits.most_steps) too_many_steps();
    expire();
}

void Machine::stuck() {
    std::string text = "stuck: every hart waits, no deadline is pending, and nothing is left that could wake one\n";
    describe_harts(text);
    machine_fail(End::stuck, text);
}

}   // namespace

// ---- the run ------------------------------------------------------------------------------------

void machine_begin(const Limits& limits, Strategy& strategy, Record& record) {
    machine = new Machine;
    machine->limits = limits;
    machine->strategy = &strategy;
    machine->record = &record;
    auto first = std::make_unique<Hart>();
    for (unsigned cpu = 0; cpu < limits.cpus; ++cpu) first->cpus.add(cpu);
    machine->running = first.get();
    machine->harts.push_back(std::move(first));
    harts_alive = 1;
    if (limits.timed) {
        machine->costs = std::make_unique<Costs>();
        machine->running->time_ns = machine->clock_ns;
    }
    detail::buffering = limits.store_buffers && !limits.timed;
    detail::countdown = machine->armed = 0;
    machine->arm();
}

bool machine_runs() noexcept { return machine != nullptr; }

namespace {

void fill_record(End end) {
    Record& record = *machine->record;
    record.end = end;
    record.steps = machine->total;
    record.harts = machine->harts.size();
}

[[noreturn]] void finish_record(End end, const std::string& text) {
    fill_record(end);
    std::snprintf(machine->record->text, sizeof machine->record->text, "%s", text.c_str());
    std::fflush(stdout);
    std::fflush(stderr);
    _exit(end == End::passed ? 0 : 1);
}

}   // namespace

void machine_fail(End end, const std::string& text) {
    machine->account();
    const bool undone = end == End::stuck || end == End::steps || end == End::left;
    if (undone && machine_excuses) finish_record(End::passed, "");
    finish_record(end, text);
}

void machine_excused() {
    fill_record(End::passed);
    _exit(0);
}

void machine_end() {
    end_what_is_kept();   // as if its thread ended, so that nothing is left
    machine->account();
    const std::string left = machine->limits.leaks ? memory_left() : std::string();
    if (!left.empty()) machine_fail(End::left, left);
    finish_record(End::passed, "");
}

// ---- the seams ----------------------------------------------------------------------------------

namespace detail {

namespace {

const char* name_of(access what) {
    switch (what) {
    case access::load: return "load";
    case access::store: return "store";
    case access::exchange: return "exchange";
    case access::compare: return "compare-exchange";
    case access::add: return "fetch-add";
    case access::subtract: return "fetch-sub";
    case access::set_bits: return "fetch-or";
    case access::clear_bits: return "fetch-and";
    case access::flip_bits: return "fetch-xor";
    case access::wait: return "wait";
    case access::notify: return "notify";
    }
    return "?";
}

}   // namespace

void at_point(access what, const void* word, const weft::location& where) {
    Machine& of = *machine;
    if (of.silent) {
        countdown = std::numeric_limits<std::int64_t>::max();
        return;
    }
    of.account();
    if (of.costs != nullptr) {
        const Accesses how = what == access::load || what == access::wait || what == access::notify ? Accesses::reads
                             : what == access::store                                                ? Accesses::stores
                                                                                                    : Accesses::changes;
        const std::uint64_t now_ns = of.running->time_ns;
        const std::uint64_t done_ns = of.costs->access(of.running->number, word, how, now_ns, where);
        return of.step_in_time(done_ns - now_ns, name_of(what), word, where, __builtin_frame_address(0));
    }
    of.step(name_of(what), word, where);
    if (of.total >= of.stint_ends) {
        of.longest = std::max(of.longest / 2, least_longest_stint);
        of.stint_ends = of.total + of.longest;
        of.decide_at(Moment::pause, __builtin_frame_address(0));
    } else {
        of.decide_at(Moment::point, __builtin_frame_address(0));
    }
}

void keep_old(void* word, std::size_t bytes) {
    Machine& of = *machine;
    of.running->stores.keep_old(word, bytes);
    if (of.strategy->stored()) {
        of.account();
        of.arm();
    }
}

void empty_buffer() { machine->running->stores.let_all_go(); }

void wait_while_equal(const void* word, const void* old, std::size_t bytes, const weft::location& where) {
    if (machine == nullptr) std::abort();
    for (;;) {
        point(access::wait, word, where);
        empty_buffer();
        if (std::memcmp(word, old, bytes) != 0) return;
        block(Wait::futex, word, forever);
    }
}

void notify(const void* word, bool all, const weft::location& where) {
    point(access::notify, word, where);
    if (machine == nullptr) return;
    empty_buffer();
    wake(word, all ? ~std::size_t{0} : 1);
}

}   // namespace detail

bool block(Wait why, const void* on, std::uint64_t deadline_ns) {
    Machine& of = *machine;
    if (of.silent) std::longjmp(of.given_up, 1);
    Hart& self = *of.running;
    of.account();
    self.stores.let_all_go();
    self.state = Hart::State::waits;
    self.waits_for = why;
    self.waits_on = on;
    self.deadline_ns = deadline_ns;
    self.woken = false;
    self.waits_since = ++of.waits;
    of.earliest_ns = std::min(of.earliest_ns, deadline_ns);
    of.expire();
    Hart& next = of.next_ready();
    if (&next != &self) of.run(next, 0, 0);
    of.account();
    of.arm();
    return self.woken;
}

std::size_t wake(const void* on, std::size_t count) {
    std::size_t woken = 0;
    while (woken < count) {
        Hart* oldest = nullptr;
        for (const auto& hart : machine->harts) {
            if (hart->state != Hart::State::waits || hart->waits_on != on) continue;
            if (oldest == nullptr || hart->waits_since < oldest->waits_since) oldest = hart.get();
        }
        if (oldest == nullptr) break;
        machine->ready_again(*oldest, true);
        ++woken;
    }
    return woken;
}

void pause(const weft::location& where) {
    if (machine == nullptr || machine->silent) return;
    Machine& of = *machine;
    --detail::countdown;
    of.account();
    if (of.costs != nullptr)
        return of.step_in_time(timed_pause_ns, "pause", nullptr, where, __builtin_frame_address(0));
    of.clock_ns += pause_ns;
    of.step("pause", nullptr, where);
    if (of.plain_next() == of.running && of.earliest_ns != forever) {
        of.clock_ns = std::min(of.clock_ns + idle_pause_ns, std::max(of.clock_ns, of.earliest_ns));
        of.expire();
    }
    of.decide_at(Moment::pause, __builtin_frame_address(0));
}

void spend(std::uint64_t ns) {
    Machine& of = *machine;
    --detail::countdown;
    of.account();
    of.step_in_time(ns, "computes", nullptr, {}, __builtin_frame_address(0));
}

Costs* machine_costs() { return machine == nullptr ? nullptr : machine->costs.get(); }

void empty_all_buffers() {
    if (machine == nullptr) return;
    machine->running->stores.let_all_go();
    machine->empty_other_buffers();
}

void system_call(const char* what, const void* word, const weft::location& where) {
    if (machine == nullptr || machine->silent) return;
    Machine& of = *machine;
    --detail::countdown;
    of.account();
    if (of.costs != nullptr) return of.step_in_time(timed_call_ns, what, word, where, __builtin_frame_address(0));
    of.clock_ns += call_ns;
    of.step(what, word, where);
    of.decide_at(Moment::point, __builtin_frame_address(0));
    of.running->stores.let_all_go();
}

std::uint64_t now_ns() noexcept {
    if (machine == nullptr) {
        timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
    }
    machine->account();
    return machine->clock_ns;
}

// ---- harts --------------------------------------------------------------------------------------

void* hart_start(void (*body)(void*), void* argument, std::size_t stack_bytes) {
    Machine& of = *machine;
    if (of.harts.size() >= (of.costs != nullptr ? Costs::most_harts : most_harts)) return nullptr;
    auto made = std::make_unique<Hart>();
    made->stack_bytes = std::max(stack_bytes, least_stack);
    made->stack =
        mmap(nullptr, made->stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made->stack == MAP_FAILED) return nullptr;
    mprotect(made->stack, 4096, PROT_NONE);
    made->number = static_cast<std::uint16_t>(of.harts.size());
    made->body = body;
    made->argument = argument;
    made->cpus = of.running->cpus;
    made->floating_point = arch::floating_point();
    made->time_ns = of.clock_ns + timed_wake_ns;
    made->context = arch::prepare(static_cast<char*>(made->stack) + made->stack_bytes, hart_main);
    Hart* const hart = made.get();
    of.harts.push_back(std::move(made));
    ++harts_alive;
    if (of.strategy->became_ready(hart->number)) {
        of.account();
        detail::countdown = of.armed = 0;
    }
    return hart;
}

void hart_join(void* raw) {
    auto* hart = static_cast<Hart*>(raw);
    while (hart->state != Hart::State::ended) block(Wait::end, hart, forever);
    if (hart->stack != nullptr) munmap(std::exchange(hart->stack, nullptr), hart->stack_bytes);
}

std::uint32_t hart_number() { return machine == nullptr ? 0 : machine->running->number; }

bool hart_waits(std::uint32_t number, bool& waits) {
    if (machine == nullptr || number >= machine->harts.size() || machine->harts[number]->state == Hart::State::ended)
        return false;
    waits = machine->harts[number]->state == Hart::State::waits;
    return true;
}

bool hart_time(std::uint32_t number, std::uint64_t& ns) {
    if (machine == nullptr || number >= machine->harts.size() || machine->harts[number]->state == Hart::State::ended)
        return false;
    machine->account();
    ns = machine->harts[number]->steps * step_ns;
    return true;
}

void* hart_identity() { return machine == nullptr ? static_cast<void*>(&machine) : machine->running; }

void* thread_pointer() { return machine == nullptr ? nullptr : machine->running->block; }

void set_thread_pointer(void* pointer) {
    system_call("thread-pointer");
    Hart& self = *machine->running;
    for (const auto& other : machine->harts) {
        if (other.get() == &self || other->state == Hart::State::ended || other->block == nullptr ||
            other->block != pointer)
            continue;
        machine_fail(End::check, "harts " + std::to_string(self.number) + " and " + std::to_string(other->number) +
                                     " run by one thread pointer\n");
    }
    store_block(self);
    self.block = static_cast<ThreadBlock*>(pointer);
    load_block(self);
}

void* own_thread_pointer() { return &machine->running->own; }

os::CpuSet* hart_cpus(std::uint32_t number) {
    if (machine == nullptr || number >= machine->harts.size()) return nullptr;
    return &machine->harts[number]->cpus;
}

os::CpuSet machine_cpus() {
    os::CpuSet all;
    for (unsigned cpu = 0; machine != nullptr && cpu < machine->limits.cpus; ++cpu) all.add(cpu);
    return all;
}

void* hart_kept() { return machine == nullptr ? nullptr : machine->running->kept; }

void hart_keep(void* word, void (*at_end)(void*)) {
    machine->running->kept = word;
    machine->running->at_end = at_end;
}

char* hart_error_text() {
    static char outside[os::error_text_bytes];
    return machine == nullptr ? outside : machine->running->error_text;
}

bool seam_fails() {
    if (machine == nullptr || machine->silent) return false;
    return ++machine->record->faults_asked == machine->limits.fail_at;
}

bool store_pending(const void* begin, std::size_t bytes, std::uint32_t& who) {
    for (const auto& hart : machine->harts) {
        if (hart.get() == machine->running || !hart->stores.touches(begin, bytes)) continue;
        who = hart->number;
        return true;
    }
    return false;
}

}   // namespace weft::sim
