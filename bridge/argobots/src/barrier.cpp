// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Argobots' barrier is Weft's, plus its number of waiters, which Weft's cannot report.
#include <new>

#include "common.hpp"

namespace weft::argobots {
namespace {

struct Barrier {
    weft_barrier weft{};
    std::uint32_t waiters = 0;

    void begin(std::uint32_t count) {
        waiters = count;
        weft_barrier_init(&weft, count, nullptr, nullptr);
    }
};

Barrier* to_barrier(ABT_barrier barrier) { return reinterpret_cast<Barrier*>(barrier); }

bool is_legal(std::uint32_t count) { return count != 0 && count <= WEFT_COUNT_MAX; }

}   // namespace
}   // namespace weft::argobots

using namespace weft::argobots;

extern "C" {

int ABT_barrier_create(uint32_t num_waiters, ABT_barrier* newbarrier) {
    *newbarrier = ABT_BARRIER_NULL;
    if (!is_legal(num_waiters)) return ABT_ERR_INV_ARG;
    auto* barrier = new (std::nothrow) Barrier;
    if (barrier == nullptr) return ABT_ERR_MEM;
    barrier->begin(num_waiters);
    *newbarrier = reinterpret_cast<ABT_barrier>(barrier);
    return ABT_SUCCESS;
}

int ABT_barrier_reinit(ABT_barrier barrier, uint32_t num_waiters) {
    if (is_null(barrier)) return ABT_ERR_INV_BARRIER;
    if (!is_legal(num_waiters)) return ABT_ERR_INV_ARG;
    to_barrier(barrier)->begin(num_waiters);
    return ABT_SUCCESS;
}

int ABT_barrier_free(ABT_barrier* barrier) {
    if (is_null_at(barrier)) return ABT_ERR_INV_BARRIER;
    delete to_barrier(*barrier);
    *barrier = ABT_BARRIER_NULL;
    return ABT_SUCCESS;
}

int ABT_barrier_wait(ABT_barrier barrier) {
    if (is_null(barrier)) return ABT_ERR_INV_BARRIER;
    return weft_barrier_wait(&to_barrier(barrier)->weft) == WEFT_OK ? ABT_SUCCESS : ABT_ERR_BARRIER;
}

int ABT_barrier_get_num_waiters(ABT_barrier barrier, uint32_t* num_waiters) {
    if (is_null(barrier)) return ABT_ERR_INV_BARRIER;
    *num_waiters = to_barrier(barrier)->waiters;
    return ABT_SUCCESS;
}

}   // extern "C"
