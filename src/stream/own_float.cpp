#include "stream/own_float.hpp"

#include <utility>

#include "stream/error.hpp"
#include "stream/observe.hpp"
#include "stream/runtime.hpp"
#include "unit/handle.hpp"

namespace weft {
namespace {

constexpr std::size_t marks = own_float_bit | inside_float_bit;

using Body = void (*)(void*);

// As a unit that runs finds it where the stream has one.
PrivatePool* callable_of(Stream& stream) { return stream.direct != nullptr ? stream.direct : &Stream::no_pool; }

// Ends what the body has had, also when it throws.
class Inside {
public:
    Inside(Stream& stream, Unit& unit) : unit_(unit), callable_(stream.callable) {
        unit.user_stack_bytes |= inside_float_bit;
        enter_own_float(stream, arch::unpack(unit.user_stack_bytes & ~marks));
    }
    ~Inside() {
        Stream& stream = current();
        end_own_float(stream, unit_);
        if (unit_.is_light()) stream.callable = callable_;   // of who has called it, and goes on
    }
    Inside(const Inside&) = delete;

private:
    Unit& unit_;
    PrivatePool* const callable_;
};

void own_float_body(void* argument) {
    Stream& stream = current();
    Unit& unit = *stream.running;
    const Body body = reinterpret_cast<Body>(std::exchange(unit.waits_until_ns, 0));
    const Inside inside(stream, unit);
    body(argument);
}

}  // namespace

void give_own_float(Unit& unit) {
    if (unit.kind == Kind::hosted || unit.body == nullptr || (unit.body == own_float_body && has_own_float(unit))) return;
    unit.user_stack_bytes = arch::pack(arch::floating_point()) | own_float_bit;
    unit.waits_until_ns = reinterpret_cast<std::uint64_t>(unit.body);
    unit.body = own_float_body;
    unit.mark(Unit::canary | Unit::untidy);
}

arch::FloatingPoint leave_own_float(Stream& stream) {
    const arch::FloatingPoint own = arch::floating_point();
    arch::set_floating_point(stream.carrier.floating_point, own);
    stream.callable = callable_of(stream);
    return own;
}

void enter_own_float(Stream& stream, const arch::FloatingPoint& own) {
    stream.carrier.floating_point = arch::floating_point();
    arch::set_floating_point(own, stream.carrier.floating_point);
    stream.callable = &Stream::no_pool;   // what it calls would run with its own
}

void end_own_float(Stream& stream, Unit& unit) {
    if (!is_in_own_float(unit)) return;
    unit.user_stack_bytes &= ~inside_float_bit;
    leave_own_float(stream);
}

weft_status begin_own_float(Runtime& of) {
    if (!of.settings.values.own_float) return WEFT_OK;
    if constexpr (!config::observers) return fail(WEFT_UNSUPPORTED, "WEFT_OWN_FLOAT needs a library with WEFT_FEATURE_OBSERVERS; this one has none");
    Observer* added = nullptr;
    const Observer gives{WEFT_OBSERVED_CREATE | WEFT_OBSERVED_REVIVE, [](const weft_observation* seen, void*) { give_own_float(*to_unit(seen->unit)); }, nullptr};
    return add_observer(of, gives, &added);
}

}  // namespace weft
