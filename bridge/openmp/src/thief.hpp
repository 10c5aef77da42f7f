// When it is worth to take tasks from another thread's deque.
#pragma once

#include <cstdint>

namespace weft_openmp {

// To take a task costs both threads some 200 ns, in lines that move from one CPU to the other.
// Where one makes tasks that are shorter than that, and another takes each as it comes, that is
// what each of them costs. So the other takes short ones slowly, and none as long as they become
// more: once the deque is full its owner runs at once what it makes (Deque::plenty), and they
// become fewer until it is half empty.
class Thief {
public:
    // Whether to take one from a deque in which so many lie, at least one. If not, it looks again
    // in a moment.
    bool takes(std::int64_t length) {
        if (!short_ || length <= seen_ || left_ == most_left) return true;
        seen_ = length;
        ++left_;
        return false;
    }
    // It has taken one. Whether it is to say how long that has run: now and then, and each while
    // they are short.
    bool took() {
        seen_ = 0;
        left_ = 0;
        return short_ || ++taken_ % sample == 0;
    }
    void ran(std::uint64_t ns) { short_ = ns < short_ns; }

    // with two readings of the clock; what runs for 100 longer is worth it
    static constexpr std::uint64_t short_ns = 150;
    static constexpr unsigned sample = 8, most_left = 16;

private:
    bool short_ = false;   // the last one that was timed
    unsigned taken_ = 0;
    unsigned left_ = 0;       // times in a row
    std::int64_t seen_ = 0;   // in the deque, when it was left last; 0: not since one was taken
};

}   // namespace weft_openmp
