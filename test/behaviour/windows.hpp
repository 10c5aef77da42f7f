// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Race windows, forced: a probe stops one side inside its window until the other has done its step.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/probe.hpp"
#include "os/local.hpp"
#include "test/behaviour/atomic.hpp"
#include "test/stress/stress.hpp"

namespace weft_test {

using weft::Probe;

inline constexpr bool forced = weft::config::checked;

// The address of what a handle refers to: above the address, a build that checks handles has a
// number.
template <class Of = const void>
Of* address_of(const void* handle) {
    return reinterpret_cast<Of*>(reinterpret_cast<std::uintptr_t>(handle) & ((std::uintptr_t{1} << 48) - 1));
}

// A place where one OS thread is stopped, once: the first that reaches `where`, of the stream `who`
// (null: any OS thread that is no stream). The state that a stopped thread reads is never freed, so
// a Stop may end while a thread passes.
class Stop {
public:
    Stop(Probe where, const void* who) : where_(where) {
        kept.push_back(std::make_unique<State>());
        state_ = kept.back().get();
        state_->who = address_of(who);
        places[static_cast<std::size_t>(where_)].store(state_);
        weft::probe_hook.store(hook);
    }
    ~Stop() {
        places[static_cast<std::size_t>(where_)].store(nullptr);
        let_go();
    }
    Stop(const Stop&) = delete;

    // Waits until a thread stands there. Returns at once in a build without probes.
    void await() {
        if (forced) must_happen("somebody comes to the probe", [this] { return state_->reached.load(); });
    }
    void let_go() { state_->go.store(true); }

    static inline atomic<int> passed{0};   // how many probes threads have passed

private:
    struct State {
        const void* who = nullptr;
        atomic<bool> reached{false}, go{false};
    };

    static void hook(Probe where) {
        passed.fetch_add(1);
        State* stop = places[static_cast<std::size_t>(where)].load();
        if (stop == nullptr || weft::os::local() != stop->who || stop->reached.exchange(true)) return;
        must_happen("the other side's step", [stop] { return stop->go.load(); });
    }

    static inline atomic<State*> places[static_cast<std::size_t>(Probe::count_)] = {};
    static inline std::vector<std::unique_ptr<State>> kept;   // only the main thread uses it

    const Probe where_;
    State* state_;
};

inline const void* carrier(std::size_t rank) { return weft_stream_at(rank); }

inline weft_settings streams_with(std::size_t streams, weft_pool_kind pool) {
    weft_settings settings = with_streams(streams);
    settings.pool = pool;
    settings.scheduler = WEFT_SCHED_BASIC;
    settings.spin_ns = 1;                   // straight to sleep
    settings.rescue = WEFT_RESCUE_IGNORE;   // rescue takes a thread that is stopped in a window for stuck
    return settings;
}

}   // namespace weft_test
