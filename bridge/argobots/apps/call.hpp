// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every call of abt.h goes through done(), which names a call that failed and its error.
#pragma once

#include <abt.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace apps {

// The caller may be a user-level thread, whose stack has 16 KiB by default. Formatted output to
// stderr would take half of that in stdio, so the text is formatted into a buffer first.
[[noreturn]] inline void failed(const char* call, int status) {
    char name[64] = "no code of abt.h";
    std::size_t length = 0;
    if (ABT_error_get_str(status, nullptr, &length) == ABT_SUCCESS && length < sizeof(name))
        ABT_error_get_str(status, name, &length);
    char text[192];
    std::snprintf(text, sizeof(text), "%s has returned %d (%s)\n", call, status, name);
    std::fputs(text, stderr);
    std::abort();
}

inline void done(const char* call, int status) {
    if (status != ABT_SUCCESS) failed(call, status);
}

}   // namespace apps
