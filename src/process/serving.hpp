// The domain that has a stream's hart, and what the hart does for it. share/domain.cpp and
// share/carriers.cpp own it; the stream alone writes it, but for `returned`.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace weft {

struct Domain;
struct Pool;
struct PrivatePool;
struct Sched;
struct HartCall;
struct Unit;

// What a hart is to do next, as a callback of its domain has decided.
struct Transition {
    enum class What : unsigned char { open, run, enter, reenter, yield, pass };
    What what = What::open;
    Unit* unit = nullptr;
    union {
        Domain* child = nullptr;
        HartCall* carrier;   // for the hart that is passed on
    };
};

// Where a stream's units come from and go to.
struct Way {
    Sched* sched;
    PrivatePool* direct;
    Pool* common;
    Pool* standard;
};

struct Serving {
    Domain* domain = nullptr;   // which has the stream's hart; null: none
    // which had it when the scheduler began that stands on this stack: a level, or the stream's own
    Domain* lender = nullptr;
    Way saved_way{};   // of that scheduler, while another domain has the hart
    // domains that come with a hart, to go on with a unit that is bound to this stream
    atomic<Domain*> returned{nullptr};
    bool under_way = false;    // that scheduler sees to the hart of the other domain
    bool deciding = false;     // in a callback that may say what that is to do next
    bool owes_kick = false;    // a context has yielded on its hart: if that goes, others are to come for it
    Transition transition;     // what it is to do next
    std::uint32_t turns = 0;   // how often it has asked a domain that
};

}   // namespace weft
