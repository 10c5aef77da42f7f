// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "carrier/pool_wait.hpp"

#include <algorithm>
#include <optional>

#include "core/idle.hpp"
#include "observe/observe.hpp"
#include "os/clock.hpp"
#include "os/process_barrier.hpp"
#include "process/outside_wait.hpp"
#include "process/process.hpp"

namespace weft {
namespace {

// hart/README.md, "Going to sleep and being woken", for one pool: the numbers are the steps there.
Unit* wait_once(Stream* stream, Sleeper& sleeper, Pool& from, std::uint64_t timeout_ns) {
    IdleList::Entry place(sleeper);
    sleeper.prepare();                                      // 1
    if (pool::listen(from, place)) os::process_barrier();   // 2
    Unit* unit = pool::pop(from);                           // 3
    bool claimed;
    if (unit == nullptr && pool::quiet_after_all(from) && (stream == nullptr || !has_pending_attention(*stream))) {
        if (stream != nullptr) give_hart_back(*stream);
        if (stream != nullptr) trace_sleep(*stream, trace::Event::sleep);
        std::optional<OutsideWait> outside;
        if (stream == nullptr && timeout_ns == os::forever) outside.emplace();
        claimed = sleeper.wait(timeout_ns);   // 4b
        outside.reset();
        if (stream != nullptr) trace_sleep(*stream, trace::Event::wake);
        if (stream != nullptr) hold_hart(*stream);
    } else {
        claimed = sleeper.cancel();   // 4a
    }
    pool::stop_listening(from, place);   // 5
    if (claimed && unit == nullptr) unit = pool::pop(from);
    // 6; also without a unit: the caller may go away
    if (claimed && !pool::quiet(from)) from.idle_list.wake_one();
    return unit;
}

}   // namespace

Unit* pop_wait(Stream* stream, Pool& from, std::uint64_t deadline_ns) {
    if (from.kind == WEFT_POOL_USER && static_cast<UserPool&>(from).ops.pop_wait != nullptr) {
        auto& user = static_cast<UserPool&>(from);
        if (stream != nullptr) give_hart_back(*stream);
        Unit* unit = to_unit(user.ops.pop_wait(user.self, deadline_ns), "the pop_wait of a pool");
        if (stream != nullptr) hold_hart(*stream);
        return unit;
    }
    Sleeper own;
    Sleeper& sleeper = stream != nullptr ? stream->sleep.sleeper : own;
    for (;;) {
        const std::uint64_t left =
            deadline_ns == os::forever ? os::forever : deadline_ns - std::min(deadline_ns, os::now_ns());
        if (left == 0) return nullptr;
        if (Unit* unit = wait_once(stream, sleeper, from, left)) return unit;
        if (stream != nullptr && has_pending_attention(*stream)) return nullptr;
    }
}

}   // namespace weft
