// Who waits, in the models of src/sync: a thread of the model, with a gate that it sleeps at.
//
// A party and its waiter are used again and again, and its fields are plain: whoever touches them after he has woken it races with
// that, so the search finds it, as it would be found on a stack that is used for something else.
#pragma once

#include "hart/gate.hpp"
#include "sync/waiter.hpp"
#include "sync/word.hpp"
#include "test/model/model.hpp"

namespace weft::model {

// What a party does right; a control leaves one out.
struct Careful {
    static constexpr bool wakes = true;
    static constexpr bool settles = true;
    static constexpr bool competes = true;   // one compare-and-swap decides between a waker and the time-out
};

template <class Habits>
struct BasicParty;

template <class Habits>
class BasicWhom {
public:
    using Party = BasicParty<Habits>;
    struct Waker {};

    BasicWhom() = default;
    BasicWhom(Party& party) : party_(&party) {}

    Party* party() const { return party_; }
    void* identity() const { return party_; }
    bool claim(std::uint32_t index) const {
        return !Habits::competes || party_->contested == 0 || party_->win(index + 1);
    }
    void settle() const {
        if (Habits::settles) party_->contested = 0;
    }
    void wake(const Waker&) const {
        if (Habits::wakes) party_->gate.open();
    }

private:
    Party* party_ = nullptr;
};

template <class Habits>
struct BasicParty {
    using Whom = BasicWhom<Habits>;
    static constexpr std::uint32_t too_late = ~std::uint32_t{0};

    Gate gate;
    atomic<std::uint32_t> winner{0};
    plain<int> contested{0};
    sync::BasicWaiter<Whom> waiter{Whom(*this)};

    // Before it enters anything.
    void begin(bool is_contested) {
        contested = is_contested ? 1 : 0;
        winner.store(0, std::memory_order_relaxed);
        clear(waiter);
    }
    void clear(sync::BasicWaiter<Whom>& place) {
        place.next = nullptr;
        place.previous = nullptr;
        place.answer = sync::Answer::none;
    }

    bool win(std::uint32_t as) {
        std::uint32_t none = 0;
        return winner.compare_exchange_strong(none, as, std::memory_order_acq_rel, std::memory_order_relaxed);
    }

    // Until it is woken. One that is in a hurry gives up as soon as it is let: at any moment, since the search tries all.
    bool park(bool hurries) {
        if (hurries && (!Habits::competes || win(too_late))) return false;
        gate.wait();
        return true;
    }

    // As wait_at(): false: it has given up.
    template <class Object>
    bool wait(Object object, bool hurries = false) {
        begin(hurries);
        return !object.enter(waiter) || parked(object, hurries);
    }
    // The same by an object that is no view.
    template <class Object>
    bool parked(Object& object, bool hurries) {
        if (park(hurries)) return true;
        object.withdraw(waiter);
        return false;
    }
};

using Party = BasicParty<Careful>;
using Whom = BasicWhom<Careful>;

struct Wakeless : Careful {
    static constexpr bool wakes = false;
};
struct Unsettled : Careful {
    static constexpr bool settles = false;
};
struct Careless : Careful {
    static constexpr bool competes = false;
};

// The orders of the word, one weakened.
struct EnterRelaxed : sync::WordOrders {
    static constexpr std::memory_order enter = std::memory_order_relaxed;
};
struct LeaveRelaxed : sync::WordOrders {
    static constexpr std::memory_order leave = std::memory_order_relaxed;
};
struct LookRelaxed : sync::WordOrders {
    static constexpr std::memory_order look = std::memory_order_relaxed;
};

}  // namespace weft::model
