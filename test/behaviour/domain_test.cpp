// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Domains: libraries that share the process's harts.
#include "weft/domain.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/created_domain.hpp"
#include "test/behaviour/several.hpp"

namespace {

using namespace weft_test;

// A library that runs its contexts in the order in which they become ready, and sometimes a new
// one.
class Library {
public:
    Library() {
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        ops.enter = [](void* self) { static_cast<Library*>(self)->enter(); };
        ops.unblock = [](void* self, weft_unit* context) {
            auto& of = *static_cast<Library*>(self);
            std::lock_guard guard(of.lock_);
            of.ready_.push_back(context);
        };
        EXPECT_EQ(weft_domain_register(&ops, this, &domain), WEFT_OK) << weft_error_text();
    }
    // The unit that has registered the domain unregisters it.
    ~Library() {
        for (weft_unit* context : contexts_) EXPECT_EQ(weft_unit_join_free(context), WEFT_OK);
        EXPECT_EQ(weft_domain_unregister(domain), WEFT_OK) << weft_error_text();
    }
    Library(const Library&) = delete;

    // Adds a context that calls body() when a hart comes.
    template <class Body>
    void add(Body& body) {
        offer(make(), body);
        EXPECT_EQ(weft_domain_request(domain, 0), WEFT_OK);   // there is something to do
    }
    // Creates a context, to be run by a hart of the domain.
    weft_unit* make() {
        weft_unit* context = nullptr;
        EXPECT_EQ(weft_context_create(nullptr, 0, &context), WEFT_OK) << weft_error_text();
        contexts_.push_back(context);
        return context;
    }
    // Offers a context without a request: the domain's parent does not learn that there is
    // something to do.
    template <class Body>
    void offer(weft_unit* context, Body& body) {
        std::lock_guard guard(lock_);
        fresh_.push_back({context, [](void* raw) { (*static_cast<Body*>(raw))(); }, &body});
    }
    // The next hart that enters goes into `child`.
    void send_into(weft_domain* child) {
        std::lock_guard guard(lock_);
        next_ = child;
    }

    weft_domain* domain = nullptr;
    atomic<int> entered{0}, given_back{0}, found_nothing{0};

private:
    struct Fresh {
        weft_unit* context;
        void (*body)(void*);
        void* argument;
    };

    void enter() {
        ++entered;
        std::lock_guard guard(lock_);
        if (__atomic_load_n(weft_domain_wanted(domain), __ATOMIC_RELAXED) != 0) {
            ++given_back;
            EXPECT_EQ(weft_domain_yield(), WEFT_OK);
        } else if (weft_domain* const child = std::exchange(next_, nullptr)) {
            EXPECT_EQ(weft_domain_enter(child), WEFT_OK);
        } else if (!ready_.empty() && (fresh_.empty() || ++turns_ % 4 != 0)) {
            EXPECT_EQ(weft_context_resume(ready_.front()), WEFT_OK) << weft_error_text();
            ready_.pop_front();
        } else if (!fresh_.empty()) {
            const Fresh& first = fresh_.front();
            EXPECT_EQ(weft_context_run(first.context, first.body, first.argument), WEFT_OK) << weft_error_text();
            fresh_.pop_front();
        } else {
            ++found_nothing;
            EXPECT_EQ(weft_domain_yield(), WEFT_OK);
        }
    }

    std::mutex lock_;
    weft_domain* next_ = nullptr;
    std::deque<weft_unit*> ready_;
    std::deque<Fresh> fresh_;
    unsigned turns_ = 0;
    std::vector<weft_unit*> contexts_;
};

TEST(Domain, IsRegisteredAndUnregistered) {
    Runtime runtime;
    EXPECT_EQ(weft_domain_self(), nullptr);
    Ult caller([] {
        {
            Library library;
            EXPECT_EQ(weft_domain_self(), library.domain);
            EXPECT_EQ(value_of(weft_domain_data_get, library.domain), &library);
            EXPECT_EQ(value_of(weft_domain_parent_get, library.domain), nullptr);
        }
        EXPECT_EQ(weft_domain_self(), nullptr);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

TEST(Domain, ItsContextsRunOnTheHartThatItWasRegisteredWith) {
    Runtime runtime;
    Ult caller([] {
        int ran = 0;
        weft_latch done;
        EXPECT_EQ(weft_latch_init(&done, 3), WEFT_OK);
        Library library;
        auto body = [&] {
            EXPECT_EQ(weft_domain_self(), library.domain);
            ++ran;
            EXPECT_EQ(weft_latch_count_down(&done, 1), WEFT_OK);
        };
        for (int i = 0; i < 3; ++i) library.add(body);
        EXPECT_EQ(weft_latch_wait(&done), WEFT_OK);
        EXPECT_EQ(ran, 3);
        EXPECT_EQ(weft_domain_self(), library.domain);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

TEST(Domain, ContextsThatWaitLeaveTheHartToOthers) {
    Runtime runtime;
    Ult caller([] {
        constexpr int members = 4, phases = 20;
        weft_barrier barrier;
        EXPECT_EQ(weft_barrier_init(&barrier, members + 1, nullptr, nullptr), WEFT_OK);
        atomic<int> steps{0};
        Library library;
        auto body = [&] {
            for (int phase = 0; phase < phases; ++phase) {
                ++steps;
                weft_barrier_wait(&barrier);
            }
        };
        for (int i = 0; i < members; ++i) library.add(body);
        for (int phase = 0; phase < phases; ++phase) {
            weft_barrier_wait(&barrier);
            EXPECT_GE(steps.load(), (phase + 1) * members);
        }
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

TEST(Domain, HartsThatItAsksForComeAndGoBack) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    Runtime runtime;
    Ult caller([] {
        weft_latch both, done;
        EXPECT_EQ(weft_latch_init(&both, 2), WEFT_OK);
        EXPECT_EQ(weft_latch_init(&done, 2), WEFT_OK);
        atomic<int> here{0};
        Library library;
        auto body = [&] {
            ++here;
            for (int tries = 0; here.load() != 2 && tries < 100'000; ++tries) sched_yield();   // on two harts at once
            EXPECT_EQ(here.load(), 2);
            weft_latch_count_down(&done, 1);
        };
        for (int i = 0; i < 2; ++i) library.add(body);
        EXPECT_EQ(weft_domain_request(library.domain, 1), WEFT_OK);
        EXPECT_EQ(weft_latch_wait(&done), WEFT_OK);
        EXPECT_EQ(weft_domain_request(library.domain, -1), WEFT_OK);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

TEST(Domain, ChildrenAreLentHartsByAParentThatSaysNothing) {
    Runtime runtime;
    Ult caller([] {
        weft_latch done;
        EXPECT_EQ(weft_latch_init(&done, 1), WEFT_OK);
        Library outer;
        auto body = [&] {
            Library inner;
            EXPECT_EQ(value_of(weft_domain_parent_get, inner.domain), outer.domain);
            weft_latch ran;
            EXPECT_EQ(weft_latch_init(&ran, 3), WEFT_OK);
            auto within = [&] {
                EXPECT_EQ(weft_domain_self(), inner.domain);
                weft_latch_count_down(&ran, 1);
            };
            for (int i = 0; i < 3; ++i) inner.add(within);
            EXPECT_EQ(weft_domain_request(inner.domain, 1), WEFT_OK);
            EXPECT_EQ(weft_latch_wait(&ran), WEFT_OK);
            weft_latch_count_down(&done, 1);
        };
        outer.add(body);
        EXPECT_EQ(weft_latch_wait(&done), WEFT_OK);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

// A hart that the parent can spare may be on its way to a child that leaves.
TEST(Domain, ChildrenComeAndGoWhileTheirParentHasHartsToLend) {
    Runtime runtime;
    Ult caller([] {
        weft_latch done;
        EXPECT_EQ(weft_latch_init(&done, 1), WEFT_OK);
        Library outer;
        auto body = [&] {
            for (int i = 0; i < 40; ++i) {
                Library inner;
                EXPECT_EQ(weft_domain_request(inner.domain, 1), WEFT_OK);
                // it leaves before a hart has come, while one comes, or after it has come
                for (int yields = i % 4; yields != 0; --yields) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            }
            weft_latch_count_down(&done, 1);
        };
        outer.add(body);
        EXPECT_EQ(weft_latch_wait(&done), WEFT_OK);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

// When its hart leaves for a unit of the stream, the child wants a hart again, which its parent did
// not have to provide until then.
TEST(Domain, AChildIsLentAHartAgainWhenItsOwnHasLeftInTheMiddle) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    Runtime runtime;
    Ult caller([] {
        constexpr int members = 40;
        weft_latch done;
        EXPECT_EQ(weft_latch_init(&done, members), WEFT_OK);
        const auto granted = [] {
            std::uint64_t harts = 0;
            EXPECT_EQ(weft_counter_read("/harts/count/granted", &harts), WEFT_OK);
            return harts;
        };
        Library outer;
        EXPECT_EQ(weft_domain_request(outer.domain, 1), WEFT_OK);
        Library inner;
        auto body = [&] { weft_latch_count_down(&done, 1); };
        for (int i = 0; i < members; ++i) inner.add(body);
        // until the other hart has found nothing to do, because the child has as many harts as it
        // wants
        while (outer.entered.load() == 0 || granted() != 1) std::this_thread::yield();
        Ult own([] {}, nullptr, pool_of(0));
        EXPECT_EQ(weft_latch_wait(&done), WEFT_OK);
        EXPECT_EQ(own.join(), WEFT_OK);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

// The primary unit, which only stream 0 may run.
TEST(Domain, IsRegisteredByAUnitThatIsBoundToItsStream) {
    Runtime runtime;
    const auto here = pthread_self();
    weft_stream* const stream = weft_stream_self();
    for (int round = 0; round < 50; ++round) {
        constexpr int members = 3, phases = 5;
        weft_barrier barrier;
        EXPECT_EQ(weft_barrier_init(&barrier, members + 1, nullptr, nullptr), WEFT_OK);
        Library library;
        auto body = [&] {
            for (int phase = 0; phase < phases; ++phase) weft_barrier_wait(&barrier);
        };
        for (int i = 0; i < members; ++i) library.add(body);
        EXPECT_EQ(weft_domain_request(library.domain, 2), WEFT_OK);
        for (int phase = 0; phase < phases; ++phase) {
            weft_barrier_wait(&barrier);
            EXPECT_TRUE(pthread_equal(here, pthread_self()));
            EXPECT_EQ(weft_stream_self(), stream);
        }
    }
    EXPECT_EQ(weft_domain_self(), nullptr);
}

// A domain that waits uses nothing: it is not lent again a hart that it has given back.
TEST(Domain, OneThatHasNothingToDoIsLentNoHartUntilItHas) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    Runtime runtime;
    Ult caller([] {
        weft_latch done;
        EXPECT_EQ(weft_latch_init(&done, 1), WEFT_OK);
        Library library;
        EXPECT_EQ(weft_domain_request(library.domain, 1), WEFT_OK);
        EXPECT_EQ(weft_sleep_for(5'000'000), WEFT_OK);
        EXPECT_LE(library.entered.load(), 6);
        auto body = [&] { weft_latch_count_down(&done, 1); };
        library.add(body);
        EXPECT_EQ(weft_latch_wait(&done), WEFT_OK);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

// A request that a domain makes while it decides to give a hart back counts: the decision may not
// have seen the work that the request is for.
TEST(Domain, ARequestThatIsMadeWhileAHartIsGivenBackIsNotLost) {
    Runtime runtime;
    Ult caller([] {
        struct Asking {
            weft_domain* domain = nullptr;
            weft_unit* waits = nullptr;
            int entered = 0;
        } asking;
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        ops.enter = [](void* self) {
            auto& of = *static_cast<Asking*>(self);
            if (++of.entered == 2) {
                EXPECT_EQ(weft_context_resume(of.waits), WEFT_OK) << weft_error_text();
            } else {
                EXPECT_EQ(weft_domain_request(of.domain, 0), WEFT_OK);   // and yields
            }
        };
        ops.unblock = [](void*, weft_unit*) {};
        ASSERT_EQ(weft_domain_register(&ops, &asking, &asking.domain), WEFT_OK);
        EXPECT_EQ(
            weft_context_pause([](weft_unit* self, void* raw) { static_cast<Asking*>(raw)->waits = self; }, &asking),
            WEFT_OK);
        EXPECT_EQ(asking.entered, 2);
        EXPECT_EQ(weft_domain_unregister(asking.domain), WEFT_OK);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

TEST(Domain, OneThatHasMoreThanItsShareIsAskedForIt) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    Runtime runtime(2);
    atomic<int> begun{0}, ended{0};
    const auto play = [&] {
        Library library;
        weft_latch done;
        EXPECT_EQ(weft_latch_init(&done, 4), WEFT_OK);
        auto body = [&] {
            ++begun;
            for (int i = 0; i < 200 || begun.load() < 8; ++i) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            weft_latch_count_down(&done, 1);
        };
        for (int i = 0; i < 4; ++i) library.add(body);
        const auto more = static_cast<ptrdiff_t>(weft_hart_limit());
        EXPECT_EQ(weft_domain_request(library.domain, more), WEFT_OK);
        EXPECT_EQ(weft_latch_wait(&done), WEFT_OK);
        EXPECT_EQ(weft_domain_request(library.domain, -more), WEFT_OK);
        ++ended;
    };
    weft_pool* pools[2] = {};
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(weft_stream_pool_get(weft_stream_at(i), &pools[i]), WEFT_OK);
    Ult one(play, nullptr, pools[0]), other(play, nullptr, pools[1]);
    EXPECT_EQ(one.join(), WEFT_OK);
    EXPECT_EQ(other.join(), WEFT_OK);
    EXPECT_EQ(ended.load(), 2);
}

// One hart searches for work while a context runs on the other hart. It finds nothing, and the
// domain is lent no hart again until there is something to do. Then the context yields, and its
// hart goes into a child, whose context keeps that hart until the first context has gone on.
TEST(Domain, OneWhoseHartGoesIntoAChildIsLentAnotherForWhatHasYieldedOnIt) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    Runtime runtime;
    Ult caller([] {
        atomic<bool> went_on{false};
        weft_latch done;
        EXPECT_EQ(weft_latch_init(&done, 2), WEFT_OK);
        Library outer;
        auto waits = [&] {
            // lets OS threads run: with a yield of the context itself the hart would go up again
            while (!went_on.load()) sched_yield();
            weft_latch_count_down(&done, 1);
        };
        weft_unit* first = outer.make();
        Library inner;
        auto yields = [&, within = inner.make()] {
            while (outer.found_nothing.load() == 0) sched_yield();
            inner.offer(within, waits);
            outer.send_into(inner.domain);
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            went_on = true;
            weft_latch_count_down(&done, 1);
        };
        outer.offer(first, yields);
        EXPECT_EQ(weft_domain_request(outer.domain, 1), WEFT_OK);
        EXPECT_EQ(weft_latch_wait(&done), WEFT_OK);
        EXPECT_EQ(weft_domain_request(outer.domain, -1), WEFT_OK);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

// Only `stream` draws from the pool that the unit returns to.
void free_under_a_unit_in_its_domain(weft_stream* stream) {
    weft_pool* pool = nullptr;
    EXPECT_EQ(weft_stream_pool_get(stream, &pool), WEFT_OK);
    weft_latch begun, go;
    EXPECT_EQ(weft_latch_init(&begun, 1), WEFT_OK);
    EXPECT_EQ(weft_latch_init(&go, 1), WEFT_OK);
    Ult unit(
        [&] {
            const Library library;
            weft_latch_count_down(&begun, 1);
            EXPECT_EQ(weft_latch_wait(&go), WEFT_OK);
        },
        nullptr, pool);
    EXPECT_EQ(weft_latch_wait(&begun), WEFT_OK);
    Ult goes([&] { weft_latch_count_down(&go, 1); });
    EXPECT_EQ(weft_stream_join_free(stream), WEFT_OK);
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(goes.join(), WEFT_OK);
}

TEST(Domain, OfAUnitEndsThoughTheStreamThatRunsItIsFreedMeanwhile) {
    Runtime runtime;
    weft_stream* stream = nullptr;
    ASSERT_EQ(weft_stream_create(nullptr, &stream), WEFT_OK);
    free_under_a_unit_in_its_domain(stream);
}

TEST(Domain, OfAUnitEndsThoughItsStreamWithASchedulerOfTheProgramsIsFreedMeanwhile) {
    Runtime runtime;
    weft_pool* pool = nullptr;
    ASSERT_EQ(weft_pool_create(WEFT_POOL_SHARED, &pool), WEFT_OK);
    weft_sched_ops ops{};
    ops.size = sizeof ops;
    ops.run = [](void* from, weft_sched* sched) {
        while (!weft_sched_check_stop(sched)) {
            weft_unit* unit = nullptr;
            EXPECT_EQ(weft_pool_pop(static_cast<weft_pool*>(from), &unit), WEFT_OK);
            if (unit != nullptr) weft_sched_run_unit(sched, unit);
            else weft_sched_wait(sched);
        }
    };
    weft_sched* sched = nullptr;
    ASSERT_EQ(weft_sched_create_user(&ops, pool, &pool, 1, &sched), WEFT_OK);
    weft_stream_options options{};
    options.size = sizeof options;
    options.sched = sched;
    weft_stream* stream = nullptr;
    ASSERT_EQ(weft_stream_create(&options, &stream), WEFT_OK);
    free_under_a_unit_in_its_domain(stream);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Domain, AContextThatHasEndedRunsAgainOnTheDomainsOwnStack) {
    Runtime runtime;
    Ult caller([] {
        struct One {
            weft_unit* context = nullptr;
            weft_unit* waits = nullptr;
            weft_latch begun;
            bool wanted = false;
            int lives = 0;
        } one;
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        ops.enter = [](void* self) {
            auto& of = *static_cast<One*>(self);
            if (std::exchange(of.wanted, false)) {
                const auto body = [](void* raw) {
                    ++static_cast<One*>(raw)->lives;
                    weft_latch_count_down(&static_cast<One*>(raw)->begun, 1);
                };
                EXPECT_EQ(weft_context_run(of.context, body, self), WEFT_OK) << weft_error_text();
                EXPECT_EQ(weft_domain_yield(), WEFT_WRONG_STATE) << "that is decided";
            } else if (of.waits != nullptr) {
                EXPECT_EQ(weft_context_resume(std::exchange(of.waits, nullptr)), WEFT_OK);
            }
        };
        ops.unblock = [](void* self, weft_unit* context) { static_cast<One*>(self)->waits = context; };
        weft_domain* domain = nullptr;
        ASSERT_EQ(weft_domain_register(&ops, &one, &domain), WEFT_OK);
        alignas(16) static char stack[65536];
        ASSERT_EQ(weft_context_create(stack, sizeof stack, &one.context), WEFT_OK);
        for (int life = 1; life <= 3; ++life) {
            EXPECT_EQ(weft_latch_init(&one.begun, 1), WEFT_OK);
            one.wanted = true;
            EXPECT_EQ(weft_latch_wait(&one.begun), WEFT_OK);
            EXPECT_EQ(weft_unit_join(one.context), WEFT_OK);
            EXPECT_EQ(one.lives, life);
        }
        // Begun during a pause.
        EXPECT_EQ(weft_context_pause(
                      [](weft_unit* self, void* raw) {
                          auto& of = *static_cast<One*>(raw);
                          of.waits = self;
                          EXPECT_EQ(weft_context_run(
                                        of.context, [](void*) {}, nullptr),
                                    WEFT_OK)
                              << weft_error_text();
                      },
                      &one),
                  WEFT_OK);
        EXPECT_EQ(weft_unit_join(one.context), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(one.context), WEFT_OK);
        EXPECT_EQ(weft_domain_unregister(domain), WEFT_OK);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

TEST(Domain, WhatItHasAskedForIsTakenBackWhenItIsUnregistered) {
    Runtime runtime;
    Ult caller([] {
        struct Parent {
            weft_unit* waits = nullptr;
            weft_domain* child = nullptr;
            ptrdiff_t asked = 0, most = 0;
        } parent;
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        ops.enter = [](void* self) {
            weft_unit* const unit = std::exchange(static_cast<Parent*>(self)->waits, nullptr);
            if (unit != nullptr) {
                EXPECT_EQ(weft_context_resume(unit), WEFT_OK);
            }
        };
        ops.unblock = [](void* self, weft_unit* context) { static_cast<Parent*>(self)->waits = context; };
        ops.child_requested = [](void* self, weft_domain*, ptrdiff_t delta) {
            auto& of = *static_cast<Parent*>(self);
            of.asked += delta;
            of.most = std::max(of.most, of.asked);
        };
        weft_domain* domain = nullptr;
        ASSERT_EQ(weft_domain_register(&ops, &parent, &domain), WEFT_OK);
        {
            Library child;
            EXPECT_EQ(weft_domain_request(child.domain, 3), WEFT_OK);
            EXPECT_EQ(weft_domain_request(child.domain, -1), WEFT_OK);
        }
        EXPECT_EQ(parent.most, 3);
        EXPECT_EQ(parent.asked, 0);
        EXPECT_EQ(weft_domain_unregister(domain), WEFT_OK);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

// A library that counts the waits of its contexts that have begun and not ended.
class Counting {
public:
    Counting() {
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        ops.enter = [](void* self) {
            auto& of = *static_cast<Counting*>(self);
            std::lock_guard guard(of.lock_);
            if (of.ready_.empty()) return;
            EXPECT_EQ(weft_context_resume(of.ready_.front()), WEFT_OK) << weft_error_text();
            of.ready_.pop_front();
        };
        ops.block = [](void* self, weft_unit*) {
            auto& of = *static_cast<Counting*>(self);
            ++of.waits;
            ++of.begun;
        };
        ops.unblock = [](void* self, weft_unit* context) {
            auto& of = *static_cast<Counting*>(self);
            EXPECT_GE(--of.waits, 0);
            std::lock_guard guard(of.lock_);
            of.ready_.push_back(context);
        };
        EXPECT_EQ(weft_domain_register(&ops, this, &domain_), WEFT_OK) << weft_error_text();
    }
    ~Counting() { EXPECT_EQ(weft_domain_unregister(domain_), WEFT_OK) << weft_error_text(); }
    Counting(const Counting&) = delete;

    atomic<int> waits{0}, begun{0};

private:
    weft_domain* domain_ = nullptr;
    std::mutex lock_;
    std::deque<weft_unit*> ready_;
};

TEST(Domain, IsToldOfEachWaitBeforeItIsToldThatTheContextCanGoOn) {
    Runtime runtime(2);
    Ult caller([] {
        weft_event event = WEFT_EVENT_INIT;
        atomic<bool> goes_on{false};
        Ult elsewhere(
            [&] {
                until_set(goes_on);
                EXPECT_EQ(weft_event_set(&event, nullptr), WEFT_OK);
            },
            nullptr, pool_of(1));
        Counting library;
        EXPECT_EQ(weft_sleep_for(1000), WEFT_OK);
        EXPECT_LE(library.begun.load(), 1);   // the sleep may be over before a context waits for it
        goes_on = true;
        EXPECT_EQ(weft_event_wait(&event, nullptr), WEFT_OK);
        EXPECT_EQ(elsewhere.join(), WEFT_OK);
        EXPECT_LE(library.begun.load(), 3);   // it need not have waited for either of them
        const int before = library.begun.load();
        EXPECT_EQ(
            weft_unit_suspend([](weft_unit* unit, void*) { EXPECT_EQ(weft_unit_resume(unit), WEFT_OK); }, nullptr),
            WEFT_OK);
        EXPECT_EQ(library.begun.load(), before + 1);
        EXPECT_EQ(library.waits.load(), 0);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

TEST(Domain, AContextThatSuspendsInFavourOfAnotherHandsTheHartOnWithoutATurnOfEnter) {
    Runtime runtime;
    Ult caller([] {
        Library library;
        weft_latch done;
        EXPECT_EQ(weft_latch_init(&done, 2), WEFT_OK);
        weft_unit* waiting = nullptr;
        weft_unit* published = nullptr;
        int entered = 0;
        std::vector<int> order;
        auto first = [&] {
            order.push_back(1);
            waiting = weft_unit_self();
            EXPECT_EQ(weft_unit_suspend(nullptr, nullptr), WEFT_OK);   // no resume ends this
            EXPECT_EQ(library.entered.load(), entered);
            order.push_back(3);
            ASSERT_NE(published, nullptr) << "whoever has left comes first";
            EXPECT_EQ(weft_unit_resume(published), WEFT_OK) << weft_error_text();
            weft_latch_count_down(&done, 1);
        };
        auto second = [&] {
            order.push_back(2);
            EXPECT_EQ(weft_context_suspend_to(
                          weft_unit_self(), [](weft_unit*, void*) {}, nullptr),
                      WEFT_WRONG_STATE)
                << "it runs";
            entered = library.entered.load();
            EXPECT_EQ(
                weft_context_suspend_to(
                    waiting, [](weft_unit* self, void* raw) { *static_cast<weft_unit**>(raw) = self; }, &published),
                WEFT_OK)
                << weft_error_text();
            order.push_back(4);
            weft_latch_count_down(&done, 1);
        };
        library.add(first);
        library.add(second);
        EXPECT_EQ(weft_latch_wait(&done), WEFT_OK);
        EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

TEST(Domain, APauseIsNoWait) {
    Runtime runtime;
    Ult caller([] {
        Counting library;
        EXPECT_EQ(
            weft_context_pause([](weft_unit* unit, void*) { EXPECT_EQ(weft_context_resume(unit), WEFT_OK); }, nullptr),
            WEFT_OK);
        EXPECT_EQ(library.begun.load(), 0);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

TEST(Domain, OneThatNoUltHasRegisteredRunsWhatIsSpawnedIntoItsPool) {
    weft_domain* none = nullptr;
    weft_domain_ops ops{};
    ops.size = sizeof ops;
    EXPECT_EQ(weft_domain_create(&ops, nullptr, &none), WEFT_INVALID);
    ops.enter = [](void*) {};
    ops.unblock = [](void*, weft_unit*) {};
    EXPECT_EQ(weft_domain_create(&ops, nullptr, &none), WEFT_NOT_INITIALIZED);
    weft_pool* pool = nullptr;
    EXPECT_EQ(weft_domain_pool_get(nullptr, &pool), WEFT_INVALID);
    Created created;   // lives until the last hart has left, with the runtime
    {
        Runtime runtime;
        created.create();
        EXPECT_EQ(value_of(weft_domain_parent_get, created.domain), nullptr);
        EXPECT_EQ(weft_domain_unregister(created.domain), WEFT_WRONG_CONTEXT);
        weft_latch all;
        ASSERT_EQ(weft_latch_init(&all, 3), WEFT_OK);
        for (int i = 0; i < 3; ++i) {
            const auto body = [](void* latch) {
                EXPECT_EQ(weft_latch_count_down(static_cast<weft_latch*>(latch), 1), WEFT_OK);
            };
            EXPECT_EQ(weft_ult_spawn(value_of(weft_domain_pool_get, created.domain), body, &all, nullptr, nullptr),
                      WEFT_OK);
        }
        EXPECT_EQ(weft_domain_request(created.domain, 3), WEFT_OK);
        EXPECT_EQ(weft_latch_wait(&all), WEFT_OK);
    }
}

TEST(Domain, OneIsCreatedBelowAnotherThatLastsAndGetsItsHarts) {
    Created above, below;
    Runtime runtime;
    above.create();
    EXPECT_EQ(weft_domain_lasting_set(above.domain), WEFT_OK);
    EXPECT_TRUE(value_of(weft_domain_lasting_get, above.domain));
    weft_latch done;
    ASSERT_EQ(weft_latch_init(&done, 1), WEFT_OK);
    constexpr int rounds = 100;
    auto caller = [&] {
        EXPECT_EQ(weft_domain_self(), above.domain);
        below.create(above.domain);
        EXPECT_EQ(value_of(weft_domain_parent_get, below.domain), above.domain);
        for (int i = 0; i < rounds; ++i) {
            weft_latch both;
            EXPECT_EQ(weft_latch_init(&both, 2), WEFT_OK);
            auto callee = [&] {
                EXPECT_EQ(weft_domain_self(), below.domain);
                EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                EXPECT_EQ(weft_latch_count_down(&both, 1), WEFT_OK);
            };
            below.spawn(callee);
            below.spawn(callee);
            EXPECT_EQ(weft_domain_request(below.domain, 2), WEFT_OK);
            EXPECT_EQ(weft_latch_wait(&both), WEFT_OK);
            EXPECT_EQ(weft_domain_self(), above.domain);
            EXPECT_EQ(weft_domain_request(below.domain, -2), WEFT_OK);
        }
        EXPECT_EQ(weft_latch_count_down(&done, 1), WEFT_OK);
    };
    above.spawn(caller);
    EXPECT_EQ(weft_domain_request(above.domain, 1), WEFT_OK);
    EXPECT_EQ(weft_latch_wait(&done), WEFT_OK);
}

TEST(Domain, OneIsCreatedBelowNoneThatMayEnd) {
    weft_domain_ops ops{};
    ops.size = sizeof ops;
    ops.enter = [](void*) {};
    ops.unblock = [](void*, weft_unit*) {};
    weft_domain* domain = nullptr;
    bool lasting = true;
    EXPECT_EQ(weft_domain_lasting_set(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_domain_lasting_get(nullptr, &lasting), WEFT_INVALID);
    Created created;
    Runtime runtime;
    created.create();
    EXPECT_FALSE(value_of(weft_domain_lasting_get, created.domain));
    EXPECT_EQ(weft_domain_create_in(created.domain, &ops, nullptr, &domain), WEFT_WRONG_STATE) << "not declared yet";
    Ult caller([&] {
        const Library library;
        EXPECT_EQ(weft_domain_lasting_set(library.domain), WEFT_INVALID);
        EXPECT_EQ(weft_domain_create_in(library.domain, &ops, nullptr, &domain), WEFT_WRONG_STATE);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

TEST(Domain, OneThatLastsIsToldOfTheRuntimesEndAfterThoseBelowIt) {
    weft_domain_ops ops{};
    ops.size = sizeof ops;
    ops.enter = [](void*) {};
    ops.unblock = [](void*, weft_unit*) {};
    struct Told {
        std::vector<const char*> names;
    } told;
    ops.ended = [](void* raw) { static_cast<Told*>(raw)->names.push_back("above"); };
    {
        Runtime runtime;
        weft_domain *above = nullptr, *below = nullptr;
        EXPECT_EQ(weft_domain_create(&ops, &told, &above), WEFT_OK);
        EXPECT_EQ(weft_domain_lasting_set(above), WEFT_OK);
        ops.ended = [](void* raw) { static_cast<Told*>(raw)->names.push_back("below"); };
        EXPECT_EQ(weft_domain_create_in(above, &ops, &told, &below), WEFT_OK);
    }
    EXPECT_EQ(told.names, (std::vector<const char*>{"below", "above"}));
}

TEST(Domain, OneThatNoUnitHasRegisteredIsToldOfTheRuntimesEnd) {
    weft_domain_ops ops{};
    ops.size = sizeof ops;
    ops.enter = [](void*) {};
    ops.unblock = [](void*, weft_unit*) {};
    ops.ended = [](void* count) { ++*static_cast<int*>(count); };
    int ended = 0;
    for (int turn = 1; turn <= 2; ++turn) {
        {
            Runtime runtime;
            weft_domain* domain = nullptr;
            EXPECT_EQ(weft_domain_create(&ops, &ended, &domain), WEFT_OK);
        }
        EXPECT_EQ(ended, turn);
    }
}

TEST(Domain, WhatCannotBeIsRefused) {
    weft_domain_ops ops{};
    ops.size = sizeof ops;
    ops.enter = [](void*) {};
    weft_domain* domain = nullptr;
    Runtime runtime;
    EXPECT_EQ(weft_domain_register(nullptr, nullptr, &domain), WEFT_INVALID);
    EXPECT_EQ(weft_domain_register(&ops, nullptr, &domain), WEFT_INVALID) << "without unblock";
    EXPECT_EQ(weft_domain_unregister(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_domain_request(nullptr, 1), WEFT_INVALID);
    EXPECT_EQ(weft_domain_yield(), WEFT_WRONG_CONTEXT);
    EXPECT_EQ(weft_domain_reenter(), WEFT_WRONG_CONTEXT);
    EXPECT_EQ(weft_domain_enter(nullptr), WEFT_INVALID);
    EXPECT_EQ(*weft_domain_wanted(nullptr), 0u);
    EXPECT_EQ(*weft_domain_lacked(nullptr), 0u);
    EXPECT_EQ(weft_domain_pass(), WEFT_WRONG_CONTEXT);
    weft_unit* context = nullptr;
    EXPECT_EQ(weft_context_create(nullptr, 0, &context), WEFT_WRONG_CONTEXT);
    EXPECT_EQ(weft_context_pause([](weft_unit*, void*) {}, nullptr), WEFT_WRONG_CONTEXT);
    EXPECT_EQ(weft_context_suspend_to(
                  nullptr, [](weft_unit*, void*) {}, nullptr),
              WEFT_INVALID);
    EXPECT_EQ(weft_context_suspend_to(weft_unit_self(), nullptr, nullptr), WEFT_INVALID);
    ops.unblock = [](void*, weft_unit*) {};
    weft_unit* tasklet = nullptr;
    auto in_tasklet = [&] { EXPECT_EQ(weft_domain_register(&ops, nullptr, &domain), WEFT_WRONG_CONTEXT); };
    EXPECT_EQ(
        weft_tasklet_spawn(
            nullptr, [](void* raw) { (*static_cast<decltype(in_tasklet)*>(raw))(); }, &in_tasklet, nullptr, &tasklet),
        WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    Ult caller([&] {
        Library outer;
        EXPECT_EQ(weft_domain_yield(), WEFT_WRONG_CONTEXT) << "a context runs, and no callback";
        EXPECT_EQ(weft_domain_ask_back(outer.domain, 1), WEFT_INVALID) << "of the base's child";
        Ult stranger([&] { EXPECT_EQ(weft_domain_unregister(outer.domain), WEFT_WRONG_CONTEXT); }, nullptr, nullptr);
        EXPECT_EQ(stranger.join(), WEFT_OK);
        Library inner;
        ASSERT_NE(inner.domain, nullptr);
        EXPECT_EQ(weft_domain_unregister(outer.domain), WEFT_BUSY);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

TEST(Domain, ContextsThatOnlyWaitForMoreToDoAreNotCountedAtTheRuntimesEnd) {
    static const weft_unit* idle;   // the context that has nothing to do
    for (const bool both : {true, false}) {
        Created domain;
        domain.idle = [](void*, const weft_unit* context) { return context == idle; };
        Runtime runtime;
        domain.create();
        {
            // so that their descriptors are reused: in builds that check handles, the handles of
            // their lives differ
            Ult one([] {}), other([] {});
        }
        weft_unit* contexts[2] = {};
        for (weft_unit*& context : contexts) {
            ASSERT_EQ(weft_ult_spawn(
                          value_of(weft_domain_pool_get, domain.domain),
                          [](void*) { weft_unit_suspend(nullptr, nullptr); }, nullptr, nullptr, &context),
                      WEFT_OK);
        }
        weft_domain_request(domain.domain, 1);
        for (weft_unit* const context : contexts) {
            weft_unit_state now = WEFT_UNIT_READY;
            while (weft_unit_state_get(context, &now) == WEFT_OK && now != WEFT_UNIT_SUSPENDED) weft_sleep_for(100'000);
        }
        idle = contexts[1];
        if (both) {
            runtime.expected = WEFT_BUSY;   // because of the other context
        } else {
            EXPECT_EQ(weft_unit_resume(contexts[0]), WEFT_OK);
            EXPECT_EQ(weft_unit_join_free(contexts[0]), WEFT_OK);
        }
    }
}

}   // namespace
