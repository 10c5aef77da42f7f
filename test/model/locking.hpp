// Locking and letting go a mutex, as mutex.cpp and abi/sync.cpp do it, by a party of the models.
#pragma once

#include "sync/mutex.hpp"
#include "test/model/who.hpp"

namespace weft::model {

using sync::Answer;
using sync::Urgency;

// The memory of a mutex; a view of it is made where one is needed.
template <class Habits, class Orders>
struct Mutual {
    using Party = BasicParty<Habits>;
    using Mutex = sync::BasicMutex<BasicWhom<Habits>, Orders>;
    typename Mutex::Word word;
    typename Mutex::Body body;

    Mutex view() { return Mutex(word, body); }

    // False: it gave up. `patient`: it may be overtaken as often as where many streams run; otherwise as where one
    // does.
    bool lock(Party& party, bool hurries = false, Urgency urgency = Urgency::normal, bool patient = false) {
        Mutex mutex = view();
        if (mutex.try_lock(&party)) return true;
        Mutex::ask(party.waiter, urgency);
        while (party.wait(mutex, hurries)) {
            if (party.waiter.answer != Answer::woken || mutex.take(party.waiter)) {
                mutex.set_owner(&party);
                return true;
            }
            if (!patient) Mutex::insist(party.waiter);
        }
        return false;
    }

    void unlock() {
        Mutex mutex = view();
        if (!mutex.unlock_quickly(mutex.owner())) mutex.unlock_slow();
    }
};

}   // namespace weft::model
