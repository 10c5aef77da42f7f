// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// glibc implements C11's calls by pthread's; only the results differ.
#pragma once

#include <pthread.h>
#include <threads.h>

#include <cerrno>

namespace weft_pthread {

inline pthread_cond_t* of_c11(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }
inline pthread_mutex_t* of_c11(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }

inline int to_c11(int error) {
    switch (error) {
    case 0: return thrd_success;
    case ETIMEDOUT: return thrd_timedout;
    default: return thrd_error;
    }
}

}   // namespace weft_pthread
