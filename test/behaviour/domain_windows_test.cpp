// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Race windows of domains, forced: one side is stopped inside its window until the other has done
// its step.
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "os/local.hpp"
#include "test/behaviour/guests.hpp"
#include "test/behaviour/windows.hpp"
#include "weft/spmd.h"

namespace {

using namespace weft_test;

// A team of one, whose member ends on another OS thread than it began on. That thread is stopped
// once it has sent the hart home.
struct Team {
    weft_event come = WEFT_EVENT_INIT;   // lets the member go on once the stream sleeps
    const void* carrier = nullptr;
    std::optional<Stop> sent;
    atomic<bool> begun{false}, ends{false};

    void call() {
        EXPECT_EQ(weft_spmd(
                      1,
                      [](void* raw) {
                          auto& self = *static_cast<Team*>(raw);
                          self.begun = true;
                          EXPECT_EQ(weft_event_wait(&self.come, nullptr), WEFT_OK);
                          self.carrier = weft::os::local();
                          self.sent.emplace(Probe::hart_sent_to_registrant, self.carrier);
                          self.ends = true;
                      },
                      this),
                  WEFT_OK);
    }
    // `others`: the number of harts that are granted while the stream sleeps.
    void go_on_elsewhere(std::uint64_t others) {
        must_happen("the stream sleeps", [&] { return begun.load() && counter("/harts/count/granted") == others; });
        EXPECT_EQ(weft_event_set(&come, nullptr), WEFT_OK);
    }
};

// A hart is sent home to stream 0. The stream takes it, is done with it, and already waits for
// another hart when the sender goes on; it must get that other hart.
TEST(DomainWindows, AStreamThatWaitsForAHartWaitsOnWhenItHasHadTheOneThatWasSentBefore) {
    if (!forced) GTEST_SKIP() << "needs probes";
    Team member;
    Runtime runtime(streams_with(1, WEFT_POOL_DEFAULT));
    std::thread waker([&] { member.go_on_elsewhere(0); });
    member.call();
    waker.join();
    member.sent->await();

    Stop aside(Probe::aside_before_lending, weft::os::local()), freed(Probe::carrier_free, member.carrier);
    atomic<bool> over{false}, left{false};
    std::thread others([&] {
        with_threads(static_cast<int>(weft_hart_limit()), [&](int) {
            Inside in;
            while (!over.load()) weft_unit_yield();   // they take turns, and stream 0 with them
        });
        left = true;
    });
    std::thread steps([&] {
        aside.await();
        member.sent->let_go();
        freed.await();
        freed.let_go();
        over = true;
        aside.let_go();
    });
    while (!over.load()) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    EXPECT_EQ(weft_spmd(
                  1, [](void*) {}, nullptr),
              WEFT_OK);   // which takes the stream's hart
    steps.join();
    // to leave they need a hart, and there may be only one
    while (!left.load()) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    others.join();
}

// The registrant goes on as soon as the hart has been sent, and its stream may end before the
// sender has woken it.
TEST(DomainWindows, AStreamStaysUntilWhoSentAHartToItHasWokenIt) {
    if (!forced) GTEST_SKIP() << "needs probes";
    if (weft_hart_limit() < 2) GTEST_SKIP() << "needs two harts: stream 0 keeps one";
    struct Caller : Team {
        atomic<pid_t> thread{0};
    } caller;
    Runtime runtime(streams_with(1, WEFT_POOL_DEFAULT));
    weft_stream* stream = nullptr;
    ASSERT_EQ(weft_stream_create(nullptr, &stream), WEFT_OK);
    weft_unit_options there{};
    there.size = sizeof there;
    there.stream = stream;
    there.bound = true;
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  nullptr,
                  [](void* raw) {
                      auto& self = *static_cast<Caller*>(raw);
                      self.call();
                      self.thread = gettid();
                  },
                  &caller, &there, &unit),
              WEFT_OK);
    caller.go_on_elsewhere(1);   // stream 0's hart
    must_happen("the member ends", [&] { return caller.ends.load(); });
    caller.sent->await();

    must_happen("the registrant goes on", [&] { return caller.thread.load() != 0; });
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    atomic<bool> freed{false};
    std::thread freer([&] {
        EXPECT_EQ(weft_stream_join_free(stream), WEFT_OK) << weft_error_text();
        freed = true;
    });
    must_happen("the stream's OS thread ends",
                [&] { return !std::filesystem::exists("/proc/self/task/" + std::to_string(caller.thread)); });
    for (int look = 0; look < 1000 && !freed.load(); ++look) std::this_thread::yield();
    EXPECT_FALSE(freed.load());
    caller.sent->let_go();
    freer.join();
}

}   // namespace
