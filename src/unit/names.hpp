// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names, for people, of a kind, of a state and of an outcome. "?" for a value that is none: a
// descriptor may be read while it changes.
#pragma once

#include "unit/state.hpp"
#include "unit/unit.hpp"

namespace weft {

constexpr const char* name_of(Kind kind) {
    switch (kind) {
    case Kind::full: return "full";
    case Kind::lsa: return "lsa";
    case Kind::tasklet: return "tasklet";
    case Kind::roc: return "roc";
    case Kind::ss: return "ss";
    case Kind::sc: return "sc";
    case Kind::hosted: return "hosted";
    case Kind::automatic: break;   // no unit is
    }
    return "?";
}

constexpr const char* name_of(State state) {
    switch (state) {
    case State::free: return "free";
    case State::ready: return "ready";
    case State::running: return "running";
    case State::suspended: return "suspended";
    case State::done: return "done";
    case State::waiting: return "waiting";
    }
    return "?";
}

constexpr const char* name_of(Outcome outcome) {
    switch (outcome) {
    case Outcome::returned: return "returned";
    case Outcome::exception: return "exception";
    case Outcome::cancelled: return "cancelled";
    case Outcome::no_stack: return "no stack";
    case Outcome::no_pthread: return "no pthread";
    }
    return "?";
}

}   // namespace weft
