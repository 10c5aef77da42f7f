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

    // False: it gave up.
    bool lock(Party& party, bool hurries = false, Urgency urgency = Urgency::normal) {
        Mutex mutex = view();
        if (mutex.try_lock(&party)) return true;
        for (bool again = false;; again = true) {
            Mutex::ask(party.waiter, urgency, again);
            if (!party.wait(mutex, hurries)) return false;
            if (party.waiter.answer != Answer::woken || mutex.take(party.waiter)) break;
        }
        mutex.set_owner(&party);
        return true;
    }

    void unlock() {
        Mutex mutex = view();
        if (!mutex.unlock_quickly(mutex.owner())) mutex.unlock_slow();
    }
};

}  // namespace weft::model
