// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/stream.hpp"

#include "os/futex.hpp"
#include "os/thread.hpp"

namespace weft {

// A stream that sleeps has no hart to lend.
Attention pending_attention_of(const Stream& stream) {
    return stream.asked().without(attention::leisurely | attention::aside);
}

bool has_pending_attention(const Stream& stream) {
    // While the main scheduler that owns its loop waits for something, `stop` and `replace` are its
    // own job: the loop beneath it cannot serve them.
    const Attention not_ours =
        (attention::stop | attention::replace).only_if(stream.levels.main_runs && stream.levels.depth == 0);
    return pending_attention_of(stream).without(not_ours).any();
}

void ask(Stream& stream, Attention bits) {
    // A paused stream sleeps on the word itself.
    if (Attention{stream.attention.fetch_or(bits.word)}.has(attention::pause)) os::futex_wake(stream.attention, 1);
    stream.sleep.sleeper.wake();
}

void wait_for_wakers(const Stream& stream) {
    while (stream.ending.wakers.load() != 0) os::thread_yield();
}

void unask(Stream& stream, Attention bits) {
    if (Attention{stream.attention.fetch_and(~bits.word)}.has(attention::pause)) os::futex_wake(stream.attention, 1);
}

}   // namespace weft
