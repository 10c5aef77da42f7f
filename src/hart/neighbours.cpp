// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hart/neighbours.hpp"

#include <algorithm>
#include <utility>

namespace weft::hart {

std::size_t Neighbours::overdue(std::uint64_t now_ns, std::uint64_t delay_ns, std::size_t harts,
                                std::uint64_t idle_ns) {
    const std::uint64_t window_ns = now_ns - std::exchange(looked_ns_, now_ns), all_ns = harts * window_ns;
    if (window_ns > longest_window_ns || now_ns < not_before_ns_ || harts < 2 || delay_ns * 4 < window_ns ||
        delay_ns >= all_ns)
        return in_a_row_ = 0;
    // the kernel has put several of our threads on one processor, as it does with new threads, and
    // separates them by itself
    if (idle_ns * 2 >= window_ns) return in_a_row_ = 0;
    // Where n harts have something to do all the time, and k others compute on as many processors
    // as harts, n + k share n: ours are delayed by k n / (n + k) of the time. A thread that sleeps
    // is not delayed, so this is a lower bound of k.
    const std::uint64_t others =
        std::max<std::uint64_t>(1, (delay_ns * harts + (all_ns - delay_ns) / 2) / (all_ns - delay_ns));
    if (others >= harts) return in_a_row_ = 0;
    if (++in_a_row_ < 2) return 0;
    in_a_row_ = 0;
    return withheld_ = others;
}

void Neighbours::begin(std::uint64_t now_ns) {
    looked_ns_ = since_ns_ = window_ns_ = now_ns;
    delay_ns_ = idle_ns_ = late_ns_ = unused_ns_ = 0;
}

bool Neighbours::goes_on(std::uint64_t now_ns, const Found& found) {
    const std::uint64_t passed_ns = now_ns - std::exchange(looked_ns_, now_ns);
    late_ns_ = found.lacks && !found.switched ? late_ns_ + passed_ns : 0;
    unused_ns_ = found.lacks || found.switched ? 0 : unused_ns_ + passed_ns;
    delay_ns_ += found.delay_ns;
    idle_ns_ += found.idle_ns;
    if (late_ns_ >= late_after_ns) return end(now_ns, Because::refused);
    if (unused_ns_ >= unused_after_ns || (!found.idle_known && now_ns - since_ns_ >= unknown_after_ns))
        return end(now_ns, Because::it_is_over);
    const std::uint64_t window_ns = now_ns - window_ns_;
    if (window_ns < judged_after_ns) return true;
    const bool was_right = now_ns - since_ns_ >= right_after_ns;
    if (idle_ns_ * 2 >= withheld_ * window_ns)
        return end(now_ns, was_right ? Because::it_is_over : Because::it_was_short);
    // the remaining harts have no processor for themselves either
    if (delay_ns_ * 4 >= window_ns) return end(now_ns, was_right ? Because::it_is_over : Because::refused);
    window_ns_ = now_ns;
    delay_ns_ = idle_ns_ = 0;
    return true;
}

// Withholding that was of no use is tried again later and later.
bool Neighbours::end(std::uint64_t now_ns, Because why) {
    withheld_ = 0;
    switch (why) {
    case Because::it_is_over: pause_ns_ = least_pause_ns; break;
    case Because::it_was_short: pause_ns_ = std::min(2 * pause_ns_, longest_pause_ns); break;
    case Because::refused: pause_ns_ = std::clamp(2 * pause_ns_, first_pause_ns, longest_pause_ns);
    }
    not_before_ns_ = now_ns + pause_ns_;
    return false;
}

}   // namespace weft::hart
