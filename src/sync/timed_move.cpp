// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A wait for a unit's migration with a deadline. The waiter may go away while the list of all such
// waits, or a remote call on its way to the only stream that may touch the unit, still knows of the
// wait: so the data that those need lies in a record of its own.
#include "core/migrate.hpp"
#include "os/memory.hpp"
#include "sync/agent.hpp"
#include "sync/objects.hpp"

namespace weft::sync {
namespace {

struct TimedMove : MoveWait {
    Agent agent;
    atomic<std::uint32_t> owners{2};   // the waiter; and the list, or the remote call to it

    TimedMove(const Caller& caller, Unit& target)
        : MoveWait(target,
                   [](MoveWait* raw) {
                       auto& self = *static_cast<TimedMove*>(raw);
                       if (self.agent.win(1)) self.agent.wake(Waker());
                       self.let_go();
                   }),
          agent(caller, true) {}

    void let_go() {
        if (owners.fetch_sub(1) == 1) os::destroy(this);
    }
};

Went wait_until(Unit& target, std::uint64_t deadline_ns, weft_status& status) {
    auto* record = os::make<TimedMove>(Caller(), target);
    if (record == nullptr) {
        status = fail(WEFT_NO_MEMORY, "no memory to wait for a migration with a deadline");
        return Went::given_up;
    }
    begin_move_wait(*record);
    Went went = Went::given_up;
    if (record->agent.park(deadline_ns, Waits::migration, to_handle(&target))) {
        went = record->went;
    } else {
        if (give_up_move_wait(*record)) record->let_go();
        status = too_late();
    }
    record->let_go();
    return went;
}

}   // namespace

[[gnu::noinline]] weft_status wait_for_move_until(Unit& target, std::uint64_t deadline_ns) {
    return deadline_ns == forever ? wait_for_move(target) : wait_for_move(target, deadline_ns, wait_until);
}

}   // namespace weft::sync
