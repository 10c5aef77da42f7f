// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/runtime.h"

#include <cstring>
#include <mutex>

#include "abi/convert.hpp"
#include "process/variables.hpp"

using namespace weft;

extern "C" {

weft_status weft_init(const weft_settings* settings) noexcept { return start(settings); }

weft_status weft_finalize(void) noexcept { return stop(); }

bool weft_initialized(void) noexcept { return process_or_null() != nullptr; }

weft_status weft_settings_get(weft_settings* settings) noexcept {
    if (settings == nullptr) return is_null("settings");
    Process* of = process_or_null();
    if (of == nullptr) return not_initialized();
    const std::size_t size = settings->size;
    if (size < sizeof size)
        return fail(WEFT_INVALID, "weft_settings.size is %zu; set it to sizeof(weft_settings)", size);
    std::memcpy(settings, &of->settings.values, size < sizeof *settings ? size : sizeof *settings);
    settings->size = size;
    return WEFT_OK;
}

weft_status weft_environment_print(FILE* file) noexcept {
    if (file == nullptr) return is_null("file");
    settings_print(file);
    return WEFT_OK;
}

weft_status weft_environment_check(FILE* file) noexcept { return settings_check(file); }

size_t weft_environment_doubts(FILE* file) noexcept { return file == nullptr ? 0 : doubts_print(file); }

weft_status weft_memory_trim(void) noexcept {
    Process* of = process_or_null();
    if (of == nullptr) return not_initialized();
    if (Stream* stream = current_or_null()) {
        give_spares(*stream);
        stream->heap->stacks.flush();
        stream->units->flush();
        stream->units->trim(0);
        stream->heap->extras->flush();
        stream->heap->extras->trim(0);
    }
    {
        std::lock_guard guard(of->outside_lock);
        of->outside->stacks.flush();
        of->outside->units->flush();
        of->outside->units->trim(0);
        of->outside->extras->flush();
        of->outside->extras->trim(0);
    }
    of->stacks.trim(0);
    return WEFT_OK;
}

}   // extern "C"
