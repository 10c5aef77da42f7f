// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A join with a deadline. The waiter may go away before the unit has ended, while the unit's
// JoinState, or a remote call on its way to the only stream that may touch it, still knows of the
// wait: so the data that those need lies in a record of its own.
#include <new>

#include "core/announce.hpp"
#include "core/finish.hpp"
#include "core/join.hpp"
#include "observe/observe.hpp"
#include "os/memory.hpp"
#include "os/thread.hpp"
#include "sync/objects.hpp"
#include "unit/crowd.hpp"

namespace weft::sync {
namespace {

struct TimedJoin : JoinWaiter {
    Agent agent;
    Unit& target;
    bool busy = false;   // the unit is detached: no caller may wait for it
    bool told = false;   // how the unit ended, if there are other waiters, too: one of them may free it
    Outcome outcome = Outcome::returned;
    // the JoinState no longer knows of it; written by the stream of a unit that is local
    atomic<bool> over{false};
    atomic<std::uint32_t> owners{2};           // the waiter; and the JoinState, or the remote call to it
    atomic<std::uint32_t> stage{on_its_way};   // of the remote call that announces
    Unit remote_call{};
    GivenUp gone{};

    static constexpr std::uint32_t on_its_way = 0, announcing = 1, announced = 2, given_up_first = 3;

    TimedJoin(const Caller& caller, Unit& joined) : agent(caller, true), target(joined) {
        wake = [](JoinWaiter* raw) { static_cast<TimedJoin*>(raw)->end(); };
        given_up = [](JoinWaiter* raw) {
            // acquire: pairs with win()
            return static_cast<TimedJoin*>(raw)->agent.winner.load(std::memory_order_acquire) == Agent::too_late;
        };
    }

    void let_go() {
        if (owners.fetch_sub(1) == 1) os::destroy(this);
    }

    // The wait is over: the unit has ended, or cannot be waited for. Called on the JoinState's
    // side.
    void end() {
        over = true;
        if (agent.win(1)) agent.wake(Waker());
        let_go();
    }

    void settle(JoinState::Announced answer) {
        if (answer == JoinState::Announced::taken)
            answer = come_over(target, *this, [](JoinWaiter* raw, Outcome ended_so) {
                auto& self = *static_cast<TimedJoin*>(raw);
                self.told = true;
                self.outcome = ended_so;
                self.end();
            });
        if (answer == JoinState::Announced::waiting) return;
        busy = answer == JoinState::Announced::taken;
        if (!busy) learn(target);
        end();
    }

    // Where the unit's JoinState may be touched: it forgets the wait, unless the unit has ended.
    void withdraw() {
        if (weft::withdraw(target, *this)) let_go();
    }

    void announce_remotely(PrivatePool& home) {
        owners.fetch_add(1);   // the remote call's: once it is announced all other owners may be done with the record
        send_remote_call(
            remote_call, home,
            [](void* raw) {
                auto& self = *static_cast<TimedJoin*>(raw);
                std::uint32_t seen = on_its_way;
                if (self.stage.compare_exchange_strong(seen, announcing)) {
                    self.settle(announce(self.target, static_cast<JoinWaiter*>(&self)));
                    self.stage = announced;
                } else {
                    self.let_go();   // for the JoinState, which is not notified: the unit may have ended and be gone
                }
                self.let_go();
            },
            this);
    }

    // The deadline came first.
    void give_up(bool by_remote_call) {
        if (by_remote_call) {
            std::uint32_t seen = on_its_way;
            while (!stage.compare_exchange_strong(seen, given_up_first)) {
                if (seen == announced) break;
                // it is being announced at this moment, which is over at once: until then the unit
                // must not be freed
                seen = on_its_way;
                os::thread_yield();
            }
            if (seen == on_its_way) return;   // the remote call will find that out when it arrives
        }
        if (over) return;
        // Also for a unit that was this stream's when the wait was announced: the waiter may come
        // back on another stream, or the stream may have given the pool up.
        PrivatePool* home = foreign_pool(target);
        if (home == nullptr) return withdraw();
        owners.fetch_add(1);
        gone = {&target, this, [](JoinWaiter* raw) {
                    auto& self = *static_cast<TimedJoin*>(raw);
                    // If over, the unit may have ended, and be gone.
                    if (!self.over) self.withdraw();
                }};
        note(gone);
        send_remote_call(
            remote_call, *home,
            [](void* raw) {
                auto& self = *static_cast<TimedJoin*>(raw);
                forget_noted(self.gone);
                self.let_go();
            },
            this);
    }
};

}   // namespace

[[gnu::noinline]] weft_status join_until(Unit& target, std::uint64_t deadline_ns) {
    if (target.join_state.done() || deadline_ns == forever) return join(target);
    const Caller caller;
    if (weft_status status = may_join(target); status != WEFT_OK) return status;
    auto* record = os::make<TimedJoin>(caller, target);
    if (record == nullptr) return fail(WEFT_NO_MEMORY, "no memory to wait for a unit with a deadline");
    PrivatePool* const home = foreign_pool(target);
    if (home != nullptr) {
        record->announce_remotely(*home);
    } else {
        record->settle(announce(target, static_cast<JoinWaiter*>(record)));
    }
    const bool woken = record->agent.park(deadline_ns, Waits::join, to_handle(&target));
    const bool busy = woken && record->busy, told = woken && record->told;   // else a remote call may be settling that
    const Outcome ended_so = told ? record->outcome : Outcome::returned;
    if (!woken) record->give_up(home != nullptr);
    record->let_go();
    if (!woken) return too_late();
    if (busy) return busy_status();
    return told ? status_of(ended_so) : ended_status(target);
}

}   // namespace weft::sync
