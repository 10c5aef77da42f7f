// An eventual is Weft's event, which carries where the value lies, and what the setter must know, within 64 bytes that may be aligned to 4 only.
#include <cstring>
#include <new>

#include "clock.hpp"

namespace weft::argobots {
namespace {

class Eventual {
public:
    explicit Eventual(ABT_eventual eventual) : memory_(reinterpret_cast<unsigned char*>(eventual)) {}

    weft_event* event() const { return reinterpret_cast<weft_event*>(memory_); }

    // Of one that was created; static memory is one without a value.
    void begin(std::uint32_t bytes) const {
        std::memset(memory_, 0, sizeof(ABT_eventual_memory));
        *word(capacity_at) = bytes;
    }
    std::uint32_t capacity() const { return *word(capacity_at); }
    // Behind the rest, if there is one.
    void* value() const { return capacity() == 0 ? nullptr : memory_ + sizeof(ABT_eventual_memory); }

    // Of several setters one may write the value. The acquire pairs with the release of a reset: who claims it sees that the event is not set.
    bool claim() const { return __atomic_exchange_n(word(claimed_at), 1, __ATOMIC_ACQUIRE) == 0; }
    void unclaim() const { __atomic_store_n(word(claimed_at), 0, __ATOMIC_RELEASE); }

private:
    static constexpr std::size_t capacity_at = 56;
    static constexpr std::size_t claimed_at = 60;
    static_assert(sizeof(weft_event) + alignof(weft_event) <= capacity_at && claimed_at + 4 == sizeof(ABT_eventual_memory));

    std::uint32_t* word(std::size_t at) const { return reinterpret_cast<std::uint32_t*>(memory_ + at); }

    unsigned char* memory_;
};

// What a wait came to.
int result_of(weft_status status) {
    switch (status) {
    case WEFT_OK: return ABT_SUCCESS;
    case WEFT_TIMED_OUT: return ABT_ERR_COND_TIMEDOUT;
    default: return ABT_ERR_EVENTUAL;
    }
}

}  // namespace
}  // namespace weft::argobots

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
    if (caller() == Caller::tasklet) return ABT_ERR_EVENTUAL;
    return result_of(weft_event_wait(Eventual(eventual).event(), value));
}

int ABT_eventual_timedwait(ABT_eventual eventual, void** value, const struct timespec* abstime) {
    if (is_null(eventual)) return ABT_ERR_INV_EVENTUAL;
    if (caller() == Caller::tasklet) return ABT_ERR_EVENTUAL;
    return result_of(weft_event_wait_until(Eventual(eventual).event(), value, deadline_of(*abstime)));
}

int ABT_eventual_test(ABT_eventual eventual, void** value, ABT_bool* is_ready) {
    if (is_null(eventual)) return ABT_ERR_INV_EVENTUAL;
    *is_ready = to_bool(weft_event_test(Eventual(eventual).event(), value) == WEFT_OK);
    return ABT_SUCCESS;
}

int ABT_eventual_set(ABT_eventual eventual, void* value, int nbytes) {
    if (nbytes < 0) return ABT_ERR_INV_ARG;
    if (is_null(eventual)) return ABT_ERR_INV_EVENTUAL;
    const Eventual of(eventual);
    const auto bytes = static_cast<std::uint32_t>(nbytes);
    if (bytes > of.capacity()) return ABT_ERR_INV_EVENTUAL;
    void* const place = of.value();
    if (place != nullptr) {
        if (!of.claim()) return ABT_ERR_EVENTUAL;
        if (bytes != 0) std::memcpy(place, value, bytes);
    }
    return weft_event_set(of.event(), place) == WEFT_OK ? ABT_SUCCESS : ABT_ERR_EVENTUAL;
}

int ABT_eventual_reset(ABT_eventual eventual) {
    if (is_null(eventual)) return ABT_ERR_INV_EVENTUAL;
    const Eventual of(eventual);
    weft_event_reset(of.event());
    if (of.capacity() != 0) of.unclaim();
    return ABT_SUCCESS;
}

}  // extern "C"
