#include "core/attention.hpp"

#include "core/idle.hpp"
#include "observe/observe.hpp"
#include "os/futex.hpp"

namespace weft {
namespace {

Attended see_to(Stream& stream, std::uint32_t bits) {
    for (const AttentionHook& hook : attention_hooks) {
        if (hook.bits != AttentionHook::always && (bits & hook.bits) == 0) continue;
        if (const Attended how = hook.call(stream, bits); how != Attended::go_on) return how;
    }
    return Attended::over;
}

}  // namespace

void attend(Stream& stream) {
    // acquire: pairs with the release half of ask(): what the asker wrote before is seen.
    while (see_to(stream, stream.attention.load(std::memory_order_acquire)) == Attended::anew) {}
}

Attended stop_for_good(Stream& stream, std::uint32_t) {
    give_hart_back(stream);
    for (;;) os::futex_wait(stream.attention, stream.attention.load());
}

Attended pause_stream(Stream& stream, std::uint32_t bits) {
    give_hart_back(stream);
    trace_sleep(stream, trace::Event::sleep);
    os::futex_wait(stream.attention, bits);
    trace_sleep(stream, trace::Event::wake);
    return Attended::anew;
}

Attended take_note(Stream& stream, std::uint32_t bits) {
    stream.loop.heeded = bits | (stream.loop.heeded & attention::unwatched);
    return Attended::go_on;
}

Attended learn_of_observers(Stream& stream, std::uint32_t) {
    unask(stream, attention::observed);
    note_observed(stream);
    return Attended::go_on;
}

}  // namespace weft
