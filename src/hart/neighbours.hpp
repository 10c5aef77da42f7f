// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether other processes compute on the processors that this one may use, and how many harts are
// better withheld then: the decisions, from one check to the next, apart from threads and clocks.
// The stream layer measures (carrier/neighbours.cpp). README.md, "Neighbours", has the rules.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::hart {

class Neighbours {
public:
    static constexpr std::uint64_t ms = 1'000'000;
    static constexpr std::uint64_t overdue_every_ns = 10 * ms;   // waiters measure at most this often,
    static constexpr std::uint64_t look_every_ns = 20 * ms;      // and the reactor this often while harts are withheld

    // A thread that has a hart waits for another hart for longer than usual. `delay_ns`: for how
    // long the OS threads of streams with something to do did not run since the last check, in
    // total. `idle_ns`: for how long processors were idle since then, where `suspects`. Returns how
    // many harts are to be withheld.
    std::size_t overdue(std::uint64_t now_ns, std::uint64_t delay_ns, std::size_t harts, std::uint64_t idle_ns = 0);
    // Whether the last check suggested neighbours. From then on the caller has to measure how long
    // processors are idle.
    bool suspects() const { return in_a_row_ != 0; }

    // The harts are withheld from now on; or could not be.
    void begin(std::uint64_t now_ns);
    void refused(std::uint64_t now_ns) { end(now_ns, Because::refused); }

    // What has happened since the last check, while harts are withheld.
    struct Found {
        std::uint64_t delay_ns = 0;
        bool idle_known = false;
        std::uint64_t idle_ns = 0;   // of the processors, in total
        bool lacks = false;          // some root lacks a hart,
        bool switched = false;       // and some hart has gone from one to another
    };
    // Whether they stay withheld.
    bool goes_on(std::uint64_t now_ns, const Found& found);

    std::size_t withheld() const { return withheld_; }

private:
    // checks that are further apart mean long phases, and the kernel shares processors better then
    static constexpr std::uint64_t longest_window_ns = 40 * ms;
    static constexpr std::uint64_t judged_after_ns = 40 * ms;
    static constexpr std::uint64_t right_after_ns = 160 * ms;
    static constexpr std::uint64_t late_after_ns = 40 * ms;
    static constexpr std::uint64_t unused_after_ns = 100 * ms;
    static constexpr std::uint64_t unknown_after_ns = 500 * ms;
    static constexpr std::uint64_t least_pause_ns = 20 * ms, first_pause_ns = 250 * ms, longest_pause_ns = 4'000 * ms;

    enum class Because : unsigned char { it_is_over, it_was_short, refused };
    bool end(std::uint64_t now_ns, Because why);

    std::size_t withheld_ = 0;
    unsigned in_a_row_ = 0;   // checks that have found neighbours
    std::uint64_t looked_ns_ = 0;
    std::uint64_t not_before_ns_ = 0, pause_ns_ = least_pause_ns;

    // While some are withheld.
    std::uint64_t since_ns_ = 0;
    std::uint64_t window_ns_ = 0;   // where the window begins, and what it has found
    std::uint64_t delay_ns_ = 0, idle_ns_ = 0;
    std::uint64_t late_ns_ = 0, unused_ns_ = 0;
};

}   // namespace weft::hart
