// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names of OpenBLAS' functions. Wheels put something before and behind them, not the same for
// each function. Headers only, for the bridge, the report and the preview of `weft run`.
#pragma once

#include <cstdio>
#include <string_view>

namespace weft_bridge::openblas {

inline constexpr char number[] = "openblas_get_num_threads", set_number[] = "goto_set_num_threads";
// OpenBLAS 0.3.28 and later: how others run its jobs, and the variable that says who does.
inline constexpr char set_callback[] = "openblas_set_threads_callback_function",
                      callback[] = "openblas_threads_callback_";

inline constexpr std::string_view before = "scipy_", behind = "64_";

// Calls find(full name) for each name that a function may have, until one is found, that is, until
// the result is not null; returns the result.
template <class Find>
void* find(const char* name, Find find) {
    for (const char* const first : {"", before.data()}) {
        for (const char* const last : {"", behind.data()}) {
            char full[96];
            std::snprintf(full, sizeof full, "%s%s%s", first, name, last);
            if (void* const found = find(full)) return found;
        }
    }
    return nullptr;
}

// Whether a symbol is that function.
inline bool is(std::string_view symbol, std::string_view name) {
    if (symbol.starts_with(before)) symbol.remove_prefix(before.size());
    if (symbol.size() > name.size() && symbol.ends_with(behind)) symbol.remove_suffix(behind.size());
    return symbol == name;
}

}   // namespace weft_bridge::openblas
