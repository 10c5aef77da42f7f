// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a virtual hart provides besides the switch, which is the processor's own: its thread-local
// word, a pause that lets others run, and a counter of virtual time.
#pragma once

#include <cstdint>

#include "weft/location.hpp"

namespace weft::sim {
extern void* local_word;   // of the hart that runs
void pause(const weft::location& where);
std::uint64_t now_ns() noexcept;
}   // namespace weft::sim

namespace weft::arch {

inline void* local_word() { return sim::local_word; }
inline void set_local_word(void* word) { sim::local_word = word; }
inline void pause(const weft::location& where = weft::location::current()) { sim::pause(where); }
inline std::uint64_t cycles() { return sim::now_ns(); }

}   // namespace weft::arch
