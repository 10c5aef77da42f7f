#include "process/stream.hpp"

#include "os/futex.hpp"
#include "os/thread.hpp"

namespace weft {

// One that sleeps has no hart to lend.
std::uint32_t mail_of(const Stream& stream) { return stream.attention.load() & ~(attention::leisurely | attention::aside); }

bool has_mail(const Stream& stream) {
    // What the main scheduler's own loop must see to, while it waits for something, is nothing that the loop beneath it could do.
    const std::uint32_t not_ours = stream.levels.main_runs && stream.levels.depth == 0 ? attention::stop | attention::replace : 0;
    return (mail_of(stream) & ~not_ours) != 0;
}

void ask(Stream& stream, std::uint32_t bits) {
    // One that is paused sleeps on the word itself.
    if ((stream.attention.fetch_or(bits) & attention::pause) != 0) os::futex_wake(stream.attention, 1);
    stream.sleep.sleeper.wake();
}

void wait_for_wakers(const Stream& stream) {
    while (stream.ending.wakers.load() != 0) os::thread_yield();
}

void unask(Stream& stream, std::uint32_t bits) {
    if ((stream.attention.fetch_and(~bits) & attention::pause) != 0) os::futex_wake(stream.attention, 1);
}

}  // namespace weft
