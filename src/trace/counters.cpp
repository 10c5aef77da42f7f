// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace/counters.hpp"

namespace weft::trace {

const char* path(Count which) {
    switch (which) {
    case Count::created: return "/units/count/created";
    case Count::run: return "/units/count/run";
    case Count::finished: return "/units/count/finished";
    case Count::revived: return "/units/count/revived";
    case Count::suspended: return "/units/count/suspended";
    case Count::resumed: return "/units/count/resumed";
    case Count::promoted: return "/units/count/promoted";
    case Count::yielded: return "/units/count/yielded";
    case Count::stolen: return "/units/count/stolen";
    case Count::postponed: return "/units/count/postponed";
    case Count::slept: return "/streams/count/slept";
    case Count::lent: return "/streams/count/lent";
    case Count::idle_ns: return "/streams/time/idle";
    case Count::units_ns: return "/streams/time/units";
    case Count::scheduling_ns: return "/streams/time/scheduling";
    case Count::count_: break;
    }
    return "";
}

}   // namespace weft::trace
