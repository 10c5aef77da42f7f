// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "entries.hpp"

#include <array>
#include <utility>

#include <weft/guest.h>
#include <weft/hart.h>

#include "counts.hpp"
#include "place.hpp"
#include "server.hpp"

namespace weft_tbb {

namespace {

// A guest, and one of several. Where the runtime cannot be started, or admits no more threads, the
// thread calls TBB as it would without us.
class Guest {
public:
    Guest() : inside_(weft_guest_enter() == WEFT_OK), concurrent_(inside_ && weft_concurrent_begin() == WEFT_OK) {}
    ~Guest() {
        if (concurrent_) weft_concurrent_end();
        if (inside_) weft_guest_leave();
    }
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;

private:
    const bool inside_, concurrent_;
    const Stay stay_{Place::inside};
};

[[gnu::noinline]] Word outermost(Call real, Word a, Word b, Word c, Word d) {
    if (is_new_child()) [[unlikely]]
        begin_anew_in_child();
    const Guest guest;
    count_entry();
    return real(a, b, c, d);
}

// finalize(handle, mode): 0 only gives the handle up; the other modes wait until the workers have
// ended.
[[gnu::noinline]] Word outermost_finalize(Call real, Word handle, Word mode) {
    if (mode == 0) return real(handle, mode, 0, 0);
    const WaitsForClose waits;
    return outermost(real, handle, mode, 0, 0);
}

template <Function function>
Word bracketed(Call real, Word a, Word b, Word c, Word d) {
    if (place_here() != Place::outside) [[likely]]
        return real(a, b, c, d);
    if constexpr (function == finalize) return outermost_finalize(real, a, b);
    else return outermost(real, a, b, c, d);
}

template <int library, Function function>
Word entry_of(Word a, Word b, Word c, Word d) {
    return bracketed<function>(libraries[library].real[function].load(std::memory_order_relaxed), a, b, c, d);
}

template <int library>
constexpr std::array<Call, functions> entries_of = {entry_of<library, execute_and_wait>, entry_of<library, wait>,
                                                    entry_of<library, execute>, entry_of<library, parallel_pipeline>,
                                                    entry_of<library, finalize>};

template <int... numbers>
constexpr std::array<std::array<Call, functions>, most_libraries> table(std::integer_sequence<int, numbers...>) {
    return {entries_of<numbers>...};
}
constexpr auto entries = table(std::make_integer_sequence<int, most_libraries>());

}   // namespace

Library libraries[most_libraries];

Call entry(int library, Function function) { return entries[static_cast<std::size_t>(library)][function]; }

}   // namespace weft_tbb

using weft_tbb::Word;

// The names are C++ names of libtbb's, and the signatures are not libtbb's: see Word. The hidden
// names are for this library, whatever the loader binds the others to.
#define WEFT_TBB_EXPORT(function)                                                                                  \
    extern "C" [[gnu::visibility("hidden")]] Word weft_tbb_generic_##function(Word a, Word b, Word c, Word d) {    \
        return weft_tbb::target_of(weft_tbb::function, __builtin_return_address(0))(a, b, c, d);                   \
    }                                                                                                              \
    extern "C" [[gnu::alias("weft_tbb_generic_" #function), gnu::visibility("default")]] Word weft_tbb_##function( \
        Word, Word, Word, Word) __asm__(WEFT_TBB_NAME_OF_##function);
WEFT_TBB_EXPORT(execute_and_wait)
WEFT_TBB_EXPORT(wait)
WEFT_TBB_EXPORT(execute)
WEFT_TBB_EXPORT(parallel_pipeline)
WEFT_TBB_EXPORT(finalize)
#undef WEFT_TBB_EXPORT

namespace weft_tbb {

Call generic(Function function) {
    constexpr Call all[functions] = {weft_tbb_generic_execute_and_wait, weft_tbb_generic_wait, weft_tbb_generic_execute,
                                     weft_tbb_generic_parallel_pipeline, weft_tbb_generic_finalize};
    return all[function];
}

}   // namespace weft_tbb
