// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Race windows of guests, forced: one side is stopped inside its window until the other has done
// its step.
#include <thread>

#include "os/local.hpp"
#include "test/behaviour/guests.hpp"
#include "test/behaviour/windows.hpp"

namespace {

using namespace weft_test;

// Keeps `count` threads inside until it is destroyed; with as many threads as harts, no hart is to
// spare.
class Harts {
public:
    explicit Harts(std::size_t count = weft_hart_limit()) {
        for (std::size_t i = 0; i < count; ++i) {
            threads_.emplace_back([this] {
                ++come_;
                Inside in;
                ++inside_;
                while (!end_.load()) std::this_thread::yield();
            });
        }
    }
    ~Harts() {
        end_.store(true);
        for (std::thread& thread : threads_) thread.join();
    }
    std::size_t come() const { return come_.load(); }
    std::size_t inside() const { return inside_.load(); }

private:
    atomic<std::size_t> come_{0}, inside_{0};
    atomic<bool> end_{false};
    std::vector<std::thread> threads_;
};

// The steps of a thread, which the test lets run one by one.
class Stepwise {
public:
    explicit Stepwise(std::vector<std::function<void()>> steps)
        : thread_([this, steps = std::move(steps)] {
              for (std::size_t i = 0; i < steps.size(); ++i) {
                  while (allowed_.load() <= i) std::this_thread::yield();
                  steps[i]();
                  ++done_;
              }
          }) {}
    ~Stepwise() { thread_.join(); }
    void begin() { ++allowed_; }
    std::size_t done() const { return done_.load(); }
    void step() {
        const std::size_t before = done();
        begin();
        must_happen("the step of the thread", [&] { return done() == before + 1; });
    }

private:
    atomic<std::size_t> allowed_{0}, done_{0};
    std::thread thread_;
};

// A guest that is about to wait has given its hart back.
void until_it_waits(const atomic<bool>& about_to) {
    must_happen("a guest waits", [&] { return about_to.load() && counter("/harts/count/granted") == 0; });
}

// When all other harts are taken, the guest is about to mark its hart reclaimable, or has marked it
// and not yet checked whether a waiter lacks one.
TEST(GuestWindows, AHartThatIsLeftLooseGoesToWhoLacksOne) {
    if (!forced) GTEST_SKIP() << "needs probes";
    Runtime runtime;
    for (const Probe where : {Probe::guest_leaves, Probe::guest_left_reclaimable}) {
        Stepwise leaver({[] { EXPECT_EQ(weft_guest_enter(), WEFT_OK); }, [] { EXPECT_EQ(weft_guest_leave(), WEFT_OK); },
                         [] { EXPECT_EQ(weft_guest_enter(), WEFT_OK); },
                         [] { EXPECT_EQ(weft_guest_leave(), WEFT_OK); }});
        with_threads(1, [&](int) {
            leaver.step();
            {
                Stop left(where, nullptr);
                leaver.begin();
                left.await();
                Harts all;
                if (where == Probe::guest_leaves) {
                    must_happen("all others are taken", [&] {
                        return all.come() == weft_hart_limit() && all.inside() + 1 == weft_hart_limit();
                    });
                    // the last one waits soon, and if not, it finds a reclaimable hart
                    for (int i = 0; i < 200; ++i) std::this_thread::yield();
                    left.let_go();
                }
                must_happen("all harts are taken", [&] { return all.inside() == weft_hart_limit(); });
                left.let_go();
                must_happen("the thread has left", [&] { return leaver.done() == 2; });
            }
            leaver.step();
            leaver.step();
        });
    }
}

// The thread that takes the hart is not yet done with the guest.
TEST(GuestWindows, AThreadEndsWhileTheHartThatItHasLeftIsTaken) {
    if (!forced) GTEST_SKIP() << "needs probes";
    Runtime runtime;
    weft_event event = WEFT_EVENT_INIT;
    atomic<bool> about_to{false}, left{false}, ends{false};
    Stepwise lacks_one({[&] {
        Inside in;
        about_to = true;
        EXPECT_EQ(weft_event_wait(&event, nullptr), WEFT_OK);
    }});
    with_threads(1, [&](int) {
        lacks_one.begin();
        until_it_waits(about_to);
        std::thread leaver([&] {
            { Inside in; }
            left = true;
            while (!ends) std::this_thread::yield();
        });
        must_happen("the thread has left", [&] { return left.load(); });
        {
            Harts others(weft_hart_limit() - 1);
            must_happen("all others are taken", [&] { return others.inside() == weft_hart_limit() - 1; });
            Stop taken(Probe::guest_hart_taken, nullptr);
            std::thread waker([&] { EXPECT_EQ(weft_event_set(&event, nullptr), WEFT_OK); });
            taken.await();
            ends = true;
            for (int i = 0; i < 2000; ++i) std::this_thread::yield();   // the thread ends, except for its guest
            taken.let_go();
            waker.join();
            must_happen("the other has a hart", [&] { return lacks_one.done() == 1; });
        }
        leaver.join();
    });
}

// The guest's unit becomes ready, and is about to request a hart, while its stream is about to give
// the hart back: one of the two must see the other.
TEST(GuestWindows, AUnitThatBecomesReadyWhileItsHartIsGivenBackGoesOn) {
    if (!forced) GTEST_SKIP() << "needs probes";
    Runtime runtime;
    weft_event event = WEFT_EVENT_INIT;
    const void* stream = nullptr;
    Stepwise guest({[&] {
                        EXPECT_EQ(weft_guest_enter(), WEFT_OK);
                        stream = weft::os::local();
                    },
                    [&] { EXPECT_EQ(weft_event_wait(&event, nullptr), WEFT_OK); },
                    [] { EXPECT_EQ(weft_guest_leave(), WEFT_OK); }});
    with_threads(1, [&](int) {
        guest.step();
        Stop gives(Probe::guest_gives, stream);
        guest.begin();
        gives.await();
        EXPECT_EQ(weft_event_set(&event, nullptr), WEFT_OK);
        gives.let_go();
        must_happen("the guest goes on", [&] { return guest.done() == 2; });
        guest.step();
    });
}

// The waker is stopped before it has requested a hart, or before it has notified the unit's stream
// that it has one. Meanwhile the guest's OS thread serves others.
TEST(GuestWindows, AUnitThatIsWokenGoesOnThoughItsThreadDoesOtherThingsMeanwhile) {
    if (!forced) GTEST_SKIP() << "needs probes";
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart, which is on its way to the one that is stopped";
    Runtime runtime;
    for (const Probe where : {Probe::guest_wanted, Probe::guest_admitted}) {
        weft_event event = WEFT_EVENT_INIT;
        atomic<bool> inside{false};
        Stepwise guest({[&] { EXPECT_EQ(weft_guest_enter(), WEFT_OK); },
                        [&] {
                            inside.store(true);
                            EXPECT_EQ(weft_event_wait(&event, nullptr), WEFT_OK);
                        },
                        [] { EXPECT_EQ(weft_guest_leave(), WEFT_OK); }});
        with_threads(1, [&](int) {
            guest.step();
            guest.begin();
            until_it_waits(inside);
            Stop woken(where, nullptr);
            std::thread waker([&] { EXPECT_EQ(weft_event_set(&event, nullptr), WEFT_OK); });
            woken.await();
            {
                Inside in;
                weft_barrier barrier;
                EXPECT_EQ(weft_barrier_init(&barrier, 4, nullptr, nullptr), WEFT_OK);
                EXPECT_EQ(weft_spmd(
                              4, [](void* raw) { weft_barrier_wait(static_cast<weft_barrier*>(raw)); }, &barrier),
                          WEFT_OK);
            }
            EXPECT_EQ(guest.done(), 1u);
            woken.let_go();
            waker.join();
            must_happen("the guest goes on", [&] { return guest.done() == 2; });
            guest.step();
        });
    }
}

}   // namespace
