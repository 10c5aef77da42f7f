// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locking and unlocking a mutex, as mutex.cpp and abi/sync.cpp do it, by an agent of the models.
#pragma once

#include "sync/mutex.hpp"
#include "test/model/agent.hpp"

namespace weft::model {

using sync::Answer;
using sync::Urgency;

// The memory of a mutex; a view of it is made where one is needed.
template <class Habits, class Orders>
struct Mutual {
    using Agent = BasicAgent<Habits>;
    using Mutex = sync::BasicMutex<BasicAgentRef<Habits>, Orders>;
    typename Mutex::Word word;
    typename Mutex::Body body;

    Mutex view() { return Mutex(word, body); }

    // Returns false if it gave up. `patient`: it may be overtaken as often as where many streams
    // run; otherwise as often as where one stream runs.
    bool lock(Agent& agent, bool hurries = false, Urgency urgency = Urgency::normal, bool patient = false) {
        Mutex mutex = view();
        if (mutex.try_take()) {
            mutex.set_owner(&agent);
            return true;
        }
        Mutex::ask(agent.waiter, urgency);
        while (agent.wait(mutex, hurries)) {
            if (agent.waiter.answer != Answer::woken || mutex.take(agent.waiter)) {
                mutex.set_owner(&agent);
                return true;
            }
            if (!patient) Mutex::insist(agent.waiter);
        }
        return false;
    }

    void unlock() {
        Mutex mutex = view();
        if (!mutex.unlock_quickly(mutex.owner())) mutex.unlock_slow();
    }
};

}   // namespace weft::model
