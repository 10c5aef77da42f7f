// A model has several threads.
#pragma once

namespace weft::os {

inline bool alone() { return false; }

}   // namespace weft::os
