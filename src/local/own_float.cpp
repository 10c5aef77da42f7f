// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "local/own_float.hpp"

#include <utility>

#include "local/locals.hpp"
#include "observe/observe.hpp"
#include "os/begins_with.hpp"
#include "process/error.hpp"
#include "process/process.hpp"
#include "process/way.hpp"
#include "unit/handle.hpp"

namespace weft {
namespace {

constexpr std::size_t marks = own_float_bit | inside_float_bit;

using Body = void (*)(void*);

// The inline pool that a running unit finds, if the stream has one.
PrivatePool* inline_pool_of(Stream& stream) { return stream.direct != nullptr ? stream.direct : &Stream::no_pool; }

// Ends the body's own environment, also when the body throws.
class Inside {
public:
    Inside(Stream& stream, Unit& unit) : unit_(unit), inline_pool_(stream.inline_pool) {
        unit.user_stack_bytes |= inside_float_bit;
        enter_own_float(stream, arch::unpack(unit.user_stack_bytes & ~marks));
    }
    ~Inside() {
        Stream& stream = current();
        end_own_float(stream, unit_);
        if (unit_.is_light()) stream.inline_pool = inline_pool_;   // that of its caller, which continues
    }
    Inside(const Inside&) = delete;

private:
    Unit& unit_;
    PrivatePool* const inline_pool_;
};

void own_float_body(void* argument) {
    Stream& stream = current();
    Unit& unit = *stream.running;
    const Body body = reinterpret_cast<Body>(std::exchange(unit.waits_until_ns, 0));
    const Inside inside(stream, unit);
    body(argument);
    if (unit.marked(Unit::extras)) end_locals(unit);   // while the unit still has its own environment
}

// The environment that the native units share on the caller's stream.
bool shared_floating_point(arch::FloatingPoint& shared) {
    const Stream* const stream = current_or_null();
    const Unit* const unit = stream == nullptr ? nullptr : stream->running;
    if (unit == nullptr || !(unit->kind == Kind::hosted ? stream->carrier.own.host != nullptr : is_in_own_float(*unit)))
        return false;
    shared = stream->carrier.own.floating_point;
    return true;
}

}   // namespace

void give_own_float(Unit& unit) { give_own_float(unit, arch::floating_point()); }

void give_own_float(Unit& unit, const arch::FloatingPoint& begins_with) {
    if (unit.kind == Kind::hosted || (unit.body == own_float_body && has_own_float(unit))) return;
    unit.mark(Unit::careful | Unit::untidy);
    unit.user_stack_bytes = arch::pack(begins_with) | own_float_bit;
    if (unit.body == nullptr) return;
    unit.waits_until_ns = reinterpret_cast<std::uint64_t>(unit.body);
    unit.body = own_float_body;
}

arch::FloatingPoint leave_own_float(Stream& stream) {
    const arch::FloatingPoint own = arch::floating_point();
    arch::set_floating_point(stream.carrier.own.floating_point, own);
    stream.inline_pool = inline_pool_of(stream);
    if (stream.sched->calls_program) settle_way(stream);
    return own;
}

void enter_own_float(Stream& stream, const arch::FloatingPoint& own) {
    stream.carrier.own.floating_point = arch::floating_point();
    arch::set_floating_point(own, stream.carrier.own.floating_point);
    stream.inline_pool = &Stream::no_pool;   // a unit that it calls would run with its own
    if (stream.sched->calls_program)
        stream.through_scheduler = true;   // and so would the pick of the next unit, before this one has left
}

void end_own_float(Stream& stream, Unit& unit) {
    if (!is_in_own_float(unit)) return;
    unit.user_stack_bytes &= ~inside_float_bit;
    leave_own_float(stream);
}

// relaxed, both: a thief that takes a job under its list's lock sees the environment that was noted
// before the job was published there, or a later one.
void note_own_float(Unit& owner) {
    if (is_in_own_float(owner))
        atomic_ref(owner.user_stack_bytes).store(arch::pack(arch::floating_point()) | marks, std::memory_order_relaxed);
}

bool noted_own_float(const Unit& owner, arch::FloatingPoint& noted) {
    if (!owner.marked(Unit::careful)) return false;
    const std::size_t word =
        atomic_ref(const_cast<std::size_t&>(owner.user_stack_bytes)).load(std::memory_order_relaxed);
    if ((word & marks) != marks) return false;
    noted = arch::unpack(word & ~marks);
    return true;
}

void run_job_of(const Unit& owner, weft_job& job) {
    Stream& stream = current();
    arch::FloatingPoint owners;
    const bool has_own = noted_own_float(owner, owners);
    if (!has_own && !is_in_own_float(*stream.running)) return job.run(&job);
    const arch::FloatingPoint before = arch::floating_point();
    arch::set_floating_point(has_own ? owners : stream.carrier.own.floating_point, before);
    job.run(&job);   // which catches exceptions
    arch::set_floating_point(before, arch::floating_point());
}

CallFor::CallFor(Unit& unit, void (*called)(void*), void* with)
    : has_own_(unit.kind == Kind::hosted || is_in_own_float(unit)), fn_(called), argument_(with) {
    if (has_own_) own_ = arch::floating_point();
}

void CallFor::called_with_own(void* self) {
    auto& call = *static_cast<CallFor*>(self);
    const arch::FloatingPoint here = arch::floating_point();
    arch::set_floating_point(call.own_, here);
    call.fn_(call.argument_);
    call.own_ = arch::floating_point();
    arch::set_floating_point(here, call.own_);
}

void CallFor::come_back() const {
    if (has_own_) arch::set_floating_point(own_, arch::floating_point());
}

weft_status begin_own_float(Process& of) {
    os::floating_point_of_threads.store(shared_floating_point);
    if (!of.settings.values.own_float) return WEFT_OK;
    if constexpr (!config::observers)
        return fail(WEFT_UNSUPPORTED, "WEFT_OWN_FLOAT needs a library with WEFT_FEATURE_OBSERVERS; this one has none");
    Observer* added = nullptr;
    const Observer gives{WEFT_OBSERVED_CREATE | WEFT_OBSERVED_REVIVE,
                         [](const weft_observation* seen, void*) { give_own_float(*to_unit(seen->unit)); }, nullptr};
    return add_observer(of, gives, &added);
}

}   // namespace weft
