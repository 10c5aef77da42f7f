// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/attention.hpp"

#include "core/idle.hpp"
#include "observe/observe.hpp"
#include "os/futex.hpp"

namespace weft {
namespace {

Attended see_to(Stream& stream, Attention bits) {
    for (const AttentionHook& hook : attention_hooks) {
        if (hook.bits != AttentionHook::always && !bits.has(hook.bits)) continue;
        if (const Attended how = hook.call(stream, bits); how != Attended::go_on) return how;
    }
    return Attended::over;
}

}   // namespace

void attend(Stream& stream) {
    // acquire: pairs with the release half of ask(): what the requester wrote before is seen.
    while (see_to(stream, stream.asked(std::memory_order_acquire)) == Attended::anew) {}
}

Attended stop_for_good(Stream& stream, Attention) {
    give_hart_back(stream);
    for (;;) os::futex_wait(stream.attention, stream.attention.load());
}

Attended pause_stream(Stream& stream, Attention bits) {
    give_hart_back(stream);
    trace_sleep(stream, trace::Event::sleep);
    os::futex_wait(stream.attention, bits.word);
    trace_sleep(stream, trace::Event::wake);
    return Attended::anew;
}

Attended take_note(Stream& stream, Attention bits) {
    stream.loop.attended = bits | (stream.loop.attended & attention::unwatched);
    return Attended::go_on;
}

Attended learn_of_observers(Stream& stream, Attention) {
    unask(stream, attention::observed);
    note_observed(stream);
    return Attended::go_on;
}

}   // namespace weft
