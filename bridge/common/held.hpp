// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holds a mutex for a scope. The mutexes are not std::mutex, because the child of a fork, in which
// the thread that held one may be gone, has to initialize it anew (pthread_atfork).
#pragma once

#include <pthread.h>

namespace weft_bridge {

class Held {
public:
    explicit Held(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
    ~Held() { pthread_mutex_unlock(&mutex_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

private:
    pthread_mutex_t& mutex_;
};

}   // namespace weft_bridge
