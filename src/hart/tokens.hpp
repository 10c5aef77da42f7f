// The tokens of the process: who holds a hart is counted here. A stream takes one while it runs units and gives it back
// when it is idle; beyond the limit tokens are extra, and counted as oversubscription (two streams more than harts
// must not stop each other, so nobody waits here yet).
#pragma once

#include <cstddef>

#include "base/atomic.hpp"

namespace weft::hart {

class Tokens {
public:
    void take() { granted_.fetch_add(1); }
    void give_back() { granted_.fetch_sub(1); }
    std::size_t granted() const { return granted_.load(); }

private:
    atomic<std::size_t> granted_{0};
};

}  // namespace weft::hart
