// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/arena.h"

#include "abi/convert.hpp"
#include "forkjoin/arena.hpp"
#include "os/memory.hpp"
#include "share/guest.hpp"

using namespace weft;

namespace {

Arena* to_arena(weft_arena* handle, const char* call = __builtin_FUNCTION()) {
    return handles::to_object<Arena>(handles::Thing::arena, handle, call);
}
const Arena* to_arena(const weft_arena* handle, const char* call = __builtin_FUNCTION()) {
    return handles::to_object<const Arena>(handles::Thing::arena, handle, call);
}
weft_arena* to_handle(Arena* arena) { return handles::to_handle<weft_arena>(handles::Thing::arena, arena); }

}   // namespace

extern "C" {

weft_status weft_arena_create(size_t harts, weft_arena** arena) noexcept {
    if (arena == nullptr) return is_null("arena");
    Arena* const made = os::make<Arena>(harts);
    if (made == nullptr) return fail(WEFT_NO_MEMORY, "no memory for an arena");
    *arena = to_handle(made);
    return WEFT_OK;
}

weft_status weft_arena_free(weft_arena* arena) noexcept {
    if (arena == nullptr) return WEFT_OK;
    Arena* const of = to_arena(arena);
    if (of->callers.load() != 0) return fail(WEFT_BUSY, "the arena is in use");
    handles::freed(of);
    os::destroy(of);
    return WEFT_OK;
}

weft_status weft_arena_execute(weft_arena* arena, void (*fn)(void*), void* argument) noexcept {
    if (arena == nullptr || fn == nullptr) return is_null(arena == nullptr ? "arena" : "fn");
    Arena& of = *to_arena(arena);
    return as_guest([&] { return run_in_arena(of, fn, argument); });
}

weft_arena* weft_arena_self(void) noexcept { return to_handle(arena_here()); }

weft_status weft_arena_harts_get(const weft_arena* arena, size_t* harts) noexcept {
    if (arena == nullptr || harts == nullptr) return is_null(arena == nullptr ? "arena" : "harts");
    *harts = harts_of(*to_arena(arena));
    return WEFT_OK;
}

}   // extern "C"
