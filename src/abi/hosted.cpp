#include "weft/hosted.h"

#include "abi/convert.hpp"
#include "stream/hosted.hpp"

using namespace weft;

extern "C" {

bool weft_hosted(void) noexcept { return hosted_or_null() != nullptr; }

uint32_t weft_hosted_thread_id(void) noexcept {
    const Unit* const unit = hosted_or_null();
    return unit == nullptr ? 0 : thread_id_of(*unit);
}

void weft_hosted_as_carrier(void (*fn)(void*), void* argument) noexcept { call_by_carrier(fn, argument); }

void weft_hosted_unconfined(void (*fn)(void*), void* argument) noexcept { call_unconfined(fn, argument); }

weft_status weft_hosted_signal(uintptr_t thread, int signal) noexcept {
    Runtime* const of = runtime_or_null();
    if (of == nullptr) return not_initialized();
    if (signal < 0 || signal > 64) return fail(WEFT_INVALID, "there is no signal %d", signal);
    return signal_hosted(*of, thread, signal) ? WEFT_OK : fail(WEFT_INVALID, "this pthread is none of hosted units");
}

weft_status weft_hosted_prepare(size_t count, size_t stack_bytes) noexcept {
    Runtime* const of = runtime_or_null();
    if (of == nullptr) return not_initialized();
    return prepare_hosts(*of, count, stack_bytes) ? WEFT_OK : fail(WEFT_SYSTEM, "the kernel starts no more threads");
}

}  // extern "C"
