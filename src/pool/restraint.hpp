// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When the owner of a deque declines the requests of other streams, because its units are so short
// that it comes to each of them itself before another stream could. README.md, "Units too short to
// be stolen", has the protocol and its proof; the model is test/model/restraint_model.cpp.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/config.hpp"
#include "base/probe.hpp"

namespace weft {

// The steps of Restraint that a model test leaves out, which must fail.
struct RestraintSteps {
    static constexpr bool decline_looks = true, end_looks = true;
};

// All orders are seq_cst: the owner declines and then looks for a watcher; a watcher stops, and
// then looks for a decline or wakes a sleeper that has looked for a watcher. At least one of the
// two sees the other. None of these is on the owner's fast path.
template <class Steps = RestraintSteps>
struct alignas(config::cache_line) BasicRestraint {
    static constexpr std::uint64_t forever = ~std::uint64_t{0};
    // For how long a request is declined: twice as long each time, until one is answered.
    static constexpr std::uint64_t shortest_ns = 2'000, longest_ns = 1'000'000;

    // ---- for the owner ----

    // Whether its units have turned out to be short.
    bool active() const { return active_.load(std::memory_order_relaxed); }      // relaxed: its own, or a hint
    void set_active(bool on) { active_.store(on, std::memory_order_relaxed); }   // relaxed: seen late, watched late

    // Whether a request may be declined: a stream watches, and no sleeper needs the answer.
    bool allowed() const { return watcher_.load() != nullptr && insisting_.load() == 0; }

    // After the request has been taken back. False: it must be answered nevertheless.
    bool decline(std::uint64_t now_ns) {
        declined_until_ns_.store(now_ns + span_ns_);
        probe(Probe::declined_before_look);
        if (Steps::decline_looks && !allowed()) {
            declined_until_ns_.store(0);
            return false;
        }
        if (span_ns_ < longest_ns) span_ns_ *= 2;
        return true;
    }

    // A request was worth an answer.
    void answered() { span_ns_ = shortest_ns; }

    // ---- for other threads ----

    // The owner has declined the last request.
    bool declined() const { return declined_until_ns_.load() != 0; }

    // make() makes a request, unless the owner has declined one and its time is not over, or
    // another stream watches, which makes the next request alone. `now` returns the time. Whether
    // one was made.
    template <class Now, class Make>
    bool request(const void* stream, Now now, Make make) {
        std::uint64_t until_ns = declined_until_ns_.load();
        if (until_ns != 0) {
            const void* const watcher = watcher_.load();
            if ((watcher != nullptr && watcher != stream) || now() < until_ns) return false;
        }
        make();
        // the owner may have declined this request as well
        if (until_ns != 0) declined_until_ns_.compare_exchange_strong(until_ns, 0);
        return true;
    }

    // For a sleeper that cannot watch, and must be woken for each unit: from before it is on the
    // idle list until it has left it. Its request is made in any case.
    void insist() { insisting_.fetch_add(1); }
    void insist_no_longer() { insisting_.fetch_sub(1); }
    template <class Make>
    void request_insistently(Make make) {
        make();
        declined_until_ns_.store(0);
    }

    bool watched() const { return watcher_.load() != nullptr; }

    // The stream watches from now on: it does not sleep past the end of a decline. False: another
    // one does.
    bool watch(void* stream) {
        void* nobody = nullptr;
        return watcher_.load() == nullptr && watcher_.compare_exchange_strong(nobody, stream);
    }

    // Before the stream sleeps, after its request and its last look at the units: until when it
    // may. quiet() looks once more, after a read-modify-write of the word in which the owner sees
    // requests: the owner may be weighing one, because this stream has watched.
    template <class Quiet>
    std::uint64_t keep_watching(void* stream, Quiet quiet) {
        if (watcher_.load() == stream) {
            if (const std::uint64_t until_ns = declined_until_ns_.load(); until_ns != 0) return until_ns;
            watcher_.store(nullptr);
            probe(Probe::unwatched_before_look);
            if (!quiet()) return 0;
        }
        // Declined in the meantime, or the stream that watched has stopped.
        const std::uint64_t until_ns = declined_until_ns_.load();
        return Steps::end_looks && until_ns != 0 && watch(stream) ? until_ns : forever;
    }

    // True: the stream has watched. It wakes a sleeper, which may have relied on it.
    bool stop_watching(const void* stream) {
        if (watcher_.load() != stream) return false;
        watcher_.store(nullptr);
        return true;
    }

private:
    atomic<bool> active_{false};
    std::uint64_t span_ns_ = shortest_ns;   // of the next decline; the owner's
    atomic<void*> watcher_{nullptr};
    atomic<std::uint64_t> declined_until_ns_{0};
    atomic<unsigned> insisting_{0};
};

using Restraint = BasicRestraint<>;

}   // namespace weft
