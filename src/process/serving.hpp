// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The domain that has a stream's hart, and what the hart does for it. share/domain.cpp and
// share/carriers.cpp own it; only the stream writes it, except for `returned`.
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
    Domain* domain = nullptr;   // the domain that has the stream's hart; null: none
    // the domain that had it when the scheduler on this stack began: a level, or the stream's own
    Domain* lender = nullptr;
    Way saved_way{};   // of that scheduler, while another domain has the hart
    // domains that bring a hart, to resume a unit that is bound to this stream
    atomic<Domain*> returned{nullptr};
    bool under_way = false;    // that scheduler manages the hart of the other domain
    bool deciding = false;     // in a callback that may decide what the hart does next
    bool owes_kick = false;    // a context has yielded on its hart: if the hart leaves, others are to come for it
    Transition transition;     // what the hart does next
    std::uint32_t turns = 0;   // how often it has asked a domain for that
};

}   // namespace weft
