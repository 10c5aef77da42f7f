// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An eventual is a Weft event that carries the address of the value, plus the fields that the
// setter needs. All lie within 64 bytes that may be aligned to 4 only.
#include <cstddef>
#include <cstring>
#include <new>

#include "clock.hpp"

namespace weft::argobots {
namespace {

class Eventual {
public:
    explicit Eventual(ABT_eventual eventual) : memory_(reinterpret_cast<unsigned char*>(eventual)) {}

    weft_event* event() const { return reinterpret_cast<weft_event*>(memory_); }

    // For a created eventual. Static memory is an eventual without a value.
    void begin(std::uint32_t bytes) const {
        std::memset(memory_, 0, sizeof(ABT_eventual_memory));
        *word(capacity_at) = bytes;
    }
    std::uint32_t capacity() const { return *word(capacity_at); }
    // The value lies after the eventual's memory, if there is one.
    void* value() const { return capacity() == 0 ? nullptr : memory_ + sizeof(ABT_eventual_memory); }

    // The fast path of a wait, for an eventual that is set. The acquire pairs with the release of
    // the set.
    bool is_set(void** value_of_it) const {
        if (__atomic_load_n(word(0), __ATOMIC_ACQUIRE) != WEFT_EVENT_IS_SET) return false;
        if (value_of_it != nullptr) *value_of_it = value();
        return true;
    }
    // The releases pair with the acquires of is_set() and claim(): a setter that observes them does
    // not overwrite a value that is still being read.
    void reset() const {
        if (!is_set(nullptr)) [[unlikely]]
            return;
        __atomic_store_n(word(0), 0, __ATOMIC_RELEASE);
        if (capacity() != 0) __atomic_store_n(word(claimed_at), 0, __ATOMIC_RELEASE);
    }

    // Only one of several setters may write the value. The acquire pairs with the release of a
    // reset: the setter that succeeds observes that the event is not set.
    bool claim() const { return __atomic_exchange_n(word(claimed_at), 1, __ATOMIC_ACQUIRE) == 0; }

private:
    static constexpr std::size_t capacity_at = 56;
    static constexpr std::size_t claimed_at = 60;
    static_assert(offsetof(weft_event, word) == 0);
    static_assert(sizeof(weft_event) + alignof(weft_event) <= capacity_at &&
                  claimed_at + 4 == sizeof(ABT_eventual_memory));

    std::uint32_t* word(std::size_t at) const { return reinterpret_cast<std::uint32_t*>(memory_ + at); }

    unsigned char* memory_;
};

// The result of a wait.
int result_of(weft_status status) {
    switch (status) {
    case WEFT_OK: return ABT_SUCCESS;
    case WEFT_TIMED_OUT: return ABT_ERR_COND_TIMEDOUT;
    default: return ABT_ERR_EVENTUAL;
    }
}

int set_with(Eventual eventual, void* value) {
    return weft_event_set(eventual.event(), value) == WEFT_OK ? ABT_SUCCESS : ABT_ERR_EVENTUAL;
}

[[gnu::noinline]] int set_value(Eventual eventual, const void* value, std::uint32_t bytes) {
    if (!eventual.claim()) return ABT_ERR_EVENTUAL;
    void* const place = eventual.value();
    if (bytes != 0) std::memcpy(place, value, bytes);
    return set_with(eventual, place);
}

[[gnu::noinline]] int wait_slow(Eventual eventual, void** value) {
    if (caller() == Caller::tasklet) return ABT_ERR_EVENTUAL;
    return result_of(weft_event_wait(eventual.event(), value));
}

}   // namespace
}   // namespace weft::argobots

using namespace weft::argobots;

extern "C" {

int ABT_eventual_create(int nbytes, ABT_eventual* neweventual) {
    if (nbytes < 0) return ABT_ERR_INV_ARG;
    void* memory = operator new(sizeof(ABT_eventual_memory) + static_cast<std::size_t>(nbytes), std::nothrow);
    if (memory == nullptr) return ABT_ERR_MEM;
    *neweventual = ABT_EVENTUAL_MEMORY_GET_HANDLE(memory);
    Eventual(*neweventual).begin(static_cast<std::uint32_t>(nbytes));
    return ABT_SUCCESS;
}

int ABT_eventual_free(ABT_eventual* eventual) {
    if (is_null_at(eventual)) return ABT_ERR_INV_EVENTUAL;
    operator delete(*eventual);
    *eventual = ABT_EVENTUAL_NULL;
    return ABT_SUCCESS;
}

int ABT_eventual_wait(ABT_eventual eventual, void** value) {
    if (is_null(eventual)) return ABT_ERR_INV_EVENTUAL;
    const Eventual of(eventual);
    const weft_running* const self = weft::here::running();
    if (self != nullptr && self->kind != WEFT_KIND_TASKLET && of.is_set(value)) [[likely]]
        return ABT_SUCCESS;
    return wait_slow(of, value);
}

int ABT_eventual_timedwait(ABT_eventual eventual, void** value, const struct timespec* abstime) {
    if (is_null(eventual)) return ABT_ERR_INV_EVENTUAL;
    if (caller() == Caller::tasklet) return ABT_ERR_EVENTUAL;
    return result_of(weft_event_wait_until(Eventual(eventual).event(), deadline_of(*abstime), value));
}

int ABT_eventual_test(ABT_eventual eventual, void** value, ABT_bool* is_ready) {
    if (is_null(eventual)) return ABT_ERR_INV_EVENTUAL;
    *is_ready = to_bool(Eventual(eventual).is_set(value));
    return ABT_SUCCESS;
}

int ABT_eventual_set(ABT_eventual eventual, void* value, int nbytes) {
    if (nbytes < 0) return ABT_ERR_INV_ARG;
    if (is_null(eventual)) return ABT_ERR_INV_EVENTUAL;
    const Eventual of(eventual);
    const auto bytes = static_cast<std::uint32_t>(nbytes);
    if (bytes > of.capacity()) return ABT_ERR_INV_EVENTUAL;
    return of.capacity() == 0 ? set_with(of, nullptr) : set_value(of, value, bytes);
}

int ABT_eventual_reset(ABT_eventual eventual) {
    if (is_null(eventual)) return ABT_ERR_INV_EVENTUAL;
    Eventual(eventual).reset();
    return ABT_SUCCESS;
}

}   // extern "C"
