// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The settings: defaults, overlaid by the program's requests, overlaid by the environment.
#pragma once

#include <cstdio>

#include "weft/runtime.h"

namespace weft {

struct Settings {
    weft_settings values{};
    const char* counters = nullptr;   // WEFT_COUNTERS: where the counters go at exit; null: nowhere
    // neither the program nor the environment says how many streams start: fewer will do
    bool streams_unasked = false;

    // Overlays `asked` (null: nothing) and the environment. Not WEFT_OK: the text says which value
    // is wrong and which are legal.
    weft_status read(const weft_settings* asked);
};

void settings_print(std::FILE* file);

// The names of the settings' variables; null: `index` is past the last one.
const char* setting_variable(std::size_t index);

// Whether the environment alone would be understood. Each value that would not be is a line of
// `file` (null: none), and the last one is the error's text.
weft_status settings_check(std::FILE* file);

}   // namespace weft
