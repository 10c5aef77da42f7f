// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A barrier of OS threads, which sleep at it whatever they are running.
#include <pthread.h>

#include <cerrno>
#include <climits>
#include <new>

#include "common.hpp"

namespace weft::argobots {
namespace {

pthread_barrier_t* to_barrier(ABT_xstream_barrier barrier) { return reinterpret_cast<pthread_barrier_t*>(barrier); }

}   // namespace
}   // namespace weft::argobots

using namespace weft::argobots;

extern "C" {

int ABT_xstream_barrier_create(uint32_t num_waiters, ABT_xstream_barrier* newbarrier) {
    *newbarrier = ABT_XSTREAM_BARRIER_NULL;
    if (num_waiters == 0 || num_waiters > INT_MAX) return ABT_ERR_INV_ARG;
    auto* barrier = new (std::nothrow) pthread_barrier_t;
    if (barrier == nullptr) return ABT_ERR_MEM;
    if (const int error = pthread_barrier_init(barrier, nullptr, num_waiters); error != 0) {
        delete barrier;
        return error == ENOMEM ? ABT_ERR_MEM : ABT_ERR_SYS;
    }
    *newbarrier = reinterpret_cast<ABT_xstream_barrier>(barrier);
    return ABT_SUCCESS;
}

int ABT_xstream_barrier_free(ABT_xstream_barrier* barrier) {
    if (is_null_at(barrier)) return ABT_ERR_INV_XSTREAM_BARRIER;
    pthread_barrier_destroy(to_barrier(*barrier));   // returns when all have left it
    delete to_barrier(*barrier);
    *barrier = ABT_XSTREAM_BARRIER_NULL;
    return ABT_SUCCESS;
}

int ABT_xstream_barrier_wait(ABT_xstream_barrier barrier) {
    if (is_null(barrier)) return ABT_ERR_INV_XSTREAM_BARRIER;
    pthread_barrier_wait(to_barrier(barrier));
    return ABT_SUCCESS;
}

}   // extern "C"
