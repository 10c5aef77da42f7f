// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit is spawned: a descriptor is filled, and goes to a pool. The fast path is that of a stream
// into its own private pool, without options, and is inlined into the C interface; all other ways
// begin with spawn_slow() or spawn_elsewhere().
#pragma once

#include "core/make_unit.hpp"
#include "process/stream.hpp"
#include "unit/handle.hpp"
#include "weft/unit.h"

namespace weft {

// weft_ult_spawn and weft_tasklet_spawn, with any arguments.
template <bool tasklet>
[[gnu::noinline]] weft_status spawn_slow(Pool* pool, void (*body)(void*), void* argument,
                                         const weft_unit_options* options, weft_unit** handle,
                                         const void* site) noexcept;
extern template weft_status spawn_slow<false>(Pool*, void (*)(void*), void*, const weft_unit_options*, weft_unit**,
                                              const void*) noexcept;
extern template weft_status spawn_slow<true>(Pool*, void (*)(void*), void*, const weft_unit_options*, weft_unit**,
                                             const void*) noexcept;

// On a stream, without options, into any pool; null: the stream's standard pool. The arguments are
// where spawn_slow() has them, the stream in place of the options, so that the C interface's need
// not be moved.
template <bool tasklet>
[[gnu::noinline]] weft_status spawn_elsewhere(Pool* pool, void (*body)(void*), void* argument, Stream* stream,
                                              weft_unit** handle, const void* site) noexcept;
extern template weft_status spawn_elsewhere<false>(Pool*, void (*)(void*), void*, Stream*, weft_unit**,
                                                   const void*) noexcept;
extern template weft_status spawn_elsewhere<true>(Pool*, void (*)(void*), void*, Stream*, weft_unit**,
                                                  const void*) noexcept;

// The plain case, into the stream's own private pool, calls a function only as its last step, so
// that it needs no frame.
template <bool tasklet>
[[gnu::always_inline]] inline weft_status spawn(Pool* pool, void (*body)(void*), void* argument,
                                                const weft_unit_options* options, weft_unit** handle,
                                                const void* site) {
    Stream* const stream = current_or_null();
    if (stream == nullptr || body == nullptr || options != nullptr || handle == nullptr) [[unlikely]] {
        return spawn_slow<tasklet>(pool, body, argument, options, handle, site);
    }
    const Unit::Home& home = tasklet ? stream->spawning.tasklet_home : stream->spawning.ult_home;
    PrivatePool* const direct = static_cast<PrivatePool*>(home.pool);
    if (pool != direct && (pool != nullptr || direct == Spawning::nowhere())) [[unlikely]] {
        return spawn_elsewhere<tasklet>(pool, body, argument, stream, handle, site);
    }
    auto* unit = static_cast<Unit*>(stream->units->try_take());
    if (unit == nullptr) [[unlikely]]
        return spawn_slow<tasklet>(pool, body, argument, nullptr, handle, site);
    unit->id = stream->take_id();
    describe(*unit, body, argument, site);
    unit->begin_life(home);
    *handle = weft::to_handle(unit);
    direct->put_unlinked(unit);
    return WEFT_OK;
}

// weft_unit_spawn_many: `count` units at once, by one body.
weft_status spawn_many(Pool* pool, std::size_t count, void (*body)(void*), void* const* arguments,
                       const weft_unit_options* options, weft_unit** units, const void* site) noexcept;

// A described unit begins at once in the place of the running ULT.
// `from`: how that ULT comes into its pool.
template <pool::From from>
void launch_child_first(Unit& unit);

extern template void launch_child_first<pool::From::parent>(Unit&);
extern template void launch_child_first<pool::From::reviving_parent>(Unit&);

// The code that runs on a stream whose carrier is the calling OS thread is a unit from now on.
// `flags`: Unit's.
void begin_as_unit(Process& of, Stream& stream, Unit& unit, Pool& pool, Unit::Flags flags);

}   // namespace weft
