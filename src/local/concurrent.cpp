// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The number of calls that have begun and not ended is a value of the unit's own, so that it ends
// with the unit, and costs those units nothing that make no such call.
#include "local/concurrent.hpp"

#include <cstdint>

#include "local/locals.hpp"

namespace weft {
namespace {

// Null until the first call, in any runtime of the process.
atomic<const Key*> made{nullptr};

const Key* key() {
    if (const Key* const had = made.load()) return had;
    Key* const mine = make_key(nullptr);
    const Key* other = nullptr;
    if (mine == nullptr || made.compare_exchange_strong(other, mine)) return mine;
    free_key(*mine);
    return other;
}

std::uintptr_t calls_of(const Unit& unit, const Key* of) {
    return of == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(local_of(unit, *of));
}

bool set_calls(Unit& unit, const Key& of, std::uintptr_t calls, Stream* stream) {
    return set_local(unit, of, reinterpret_cast<void*>(calls), stream);
}

}   // namespace

bool begin_concurrent(Unit& unit, Stream* stream) {
    const Key* const of = key();
    return of != nullptr && set_calls(unit, *of, calls_of(unit, of) + 1, stream);
}

bool end_concurrent(Unit& unit, Stream* stream) {
    const Key* const of = made.load();
    const std::uintptr_t calls = calls_of(unit, of);
    return calls != 0 && set_calls(unit, *of, calls - 1, stream);
}

bool is_concurrent(const Unit& unit) { return calls_of(unit, made.load()) != 0; }

}   // namespace weft
