// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/process.hpp"

#include <mutex>

#include "process/error.hpp"

namespace weft {
namespace {

// Trivially destructible on purpose: carriers may read it while the process ends.
atomic<Process*> active{nullptr};
atomic<Process*> complete_one{nullptr};   // set for calls from outside once the process is complete

mem::StackSettings stack_settings(const weft_settings& from) {
    return {.default_bytes = from.stack_bytes,
            .guard_bytes = from.guard_bytes,
            .guard = static_cast<mem::Guard>(from.guard),
            .idle_bytes = from.idle_memory_bytes};
}
static_assert(static_cast<int>(mem::Guard::automatic) == WEFT_GUARD_AUTO &&
              static_cast<int>(mem::Guard::install) == WEFT_GUARD_INSTALL &&
              static_cast<int>(mem::Guard::mprotect) == WEFT_GUARD_MPROTECT &&
              static_cast<int>(mem::Guard::canary) == WEFT_GUARD_CANARY &&
              static_cast<int>(mem::Guard::none) == WEFT_GUARD_NONE);

}   // namespace

Process::Process(const Settings& chosen, bool itself, const RoomsOwn& rooms, const ProcessHooks& above)
    : RoomsOwn(rooms),
      hooks(above),
      settings(chosen),
      stacks(stack_settings(chosen.values)),
      base(above.harts, static_cast<hart::Policy>(chosen.values.hart_policy), chosen.values.slice_ns),
      reactor(above.round, above.ready, this),
      by_itself(itself),
      nesting(itself ? 0 : 1) {
    default_kind = static_cast<Kind>(chosen.values.kind);
}

constinit const Unit* forked_unit = nullptr;

Process* process_or_null() {
    // acquire: pairs with the store in set_process(), for OS threads that call in.
    return complete_one.load(std::memory_order_acquire);
}

Process& process() { return *active.load(std::memory_order_acquire); }   // acquire: for OS threads that it starts

void begin_process(Process& made) { active.store(&made); }

// The order is for the end: no thread finds a process to call into that its own streams do not
// find.
void set_process(Process* now) {
    if (now == nullptr) complete_one.store(nullptr);
    active.store(now);
    complete_one.store(now);
}

void each_descriptor(Process& of, void (*visit)(void* unit, void* argument), void* argument) {
    of.descriptors.each(visit, argument);
    if (of.inherited != nullptr) visit(of.inherited, argument);
}

weft_status is_the_programs(const Stream& stream) {
    if (!stream.role.hidden) return WEFT_OK;
    return fail(WEFT_WRONG_CONTEXT, "stream %zu is no stream of the program's: %s", stream.rank,
                stream.role.guest != nullptr ? "it is a guest's, until that leaves" : "it takes harts to domains");
}

Pool& main_pool_of(const Stream& stream) {
    return *(stream.role.hidden ? stream.of->streams[0] : &stream)->levels.main_pool.load();
}

const os::CpuSet* cpus_of_process(Process& of) {
    std::lock_guard guard(of.lock);
    return of.bound_once ? &of.cpus : nullptr;
}

void leave_bindings(Process& of) {
    std::lock_guard guard(of.lock);
    if (of.bound_once) os::affinity_set(0, of.cpus);
}

std::uint64_t sum(const Process& of, trace::Count which) {
    std::uint64_t total = of.ended.read(which) + of.outside_counters.read(which);
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        if (of.streams[rank] != nullptr) total += of.streams[rank]->counted(which);
    }
    return total;
}

Unit* Process::take_outside() {
    std::lock_guard guard(outside_lock);
    auto* unit = static_cast<Unit*>(outside->units->take());
    if (unit == nullptr) return nullptr;
    unit->id = outside->next_id++;
    outside_counters.add(trace::Count::created);
    return unit;
}

mem::Stack* Process::take_stack_outside(std::size_t bytes) {
    std::lock_guard guard(outside_lock);
    return outside->stacks.take(bytes);
}

void Process::give_stack_outside(mem::Stack* stack) {
    std::lock_guard guard(outside_lock);
    outside->stacks.give(stack);
}

void Process::untake_outside(Unit& unit) {
    std::lock_guard guard(outside_lock);
    outside_counters.add(trace::Count::created, static_cast<std::uint64_t>(-1));
    outside->units->give(&unit);
}

void Process::count_outside(trace::Count which) {
    std::lock_guard guard(outside_lock);
    outside_counters.add(which);
}

void Process::give_outside(Unit& unit) {
    std::lock_guard guard(outside_lock);
    outside->units->give(&unit);
}

}   // namespace weft
