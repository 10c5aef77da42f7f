// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What runs on the OS threads of guests while the guests wait.
#include "weft/guest.h"

#include <unistd.h>

#include <mutex>
#include <thread>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/guests.hpp"
#include "test/behaviour/lent_thread.hpp"
#include "weft/domain.h"
#include "weft/parallel.hpp"

namespace {

using namespace weft_test;

TEST(GuestsThread, RunsTheContextsOfOthersWhileItsGuestWaits) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    Runtime runtime;
    weft_event event = WEFT_EVENT_INIT;
    weft_latch waits;
    ASSERT_EQ(weft_latch_init(&waits, 1), WEFT_OK);
    pthread_t others{};
    pid_t id = 0;
    std::thread thread([&] {
        others = os_thread();
        id = gettid();
        Inside in;
        EXPECT_EQ(weft_latch_count_down(&waits, 1), WEFT_OK);
        EXPECT_EQ(weft_event_wait(&event, nullptr), WEFT_OK);
        EXPECT_TRUE(pthread_equal(others, os_thread()));
    });
    EXPECT_EQ(weft_latch_wait(&waits), WEFT_OK);
    await_sleep(id);
    atomic<bool> seen{false};
    auto body = [&] {
        if (pthread_equal(os_thread(), others)) seen.store(true);
        for (int i = 0; i < 200 && !seen.load(); ++i) {
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            if (pthread_equal(os_thread(), others)) seen.store(true);
        }
    };
    for (int round = 0; round < rounds_until_lent && !seen.load(); ++round) {
        EXPECT_EQ(weft_spmd(
                      4, [](void* raw) { (*static_cast<decltype(body)*>(raw))(); }, &body),
                  WEFT_OK);
    }
    EXPECT_TRUE(seen.load() || !is_lent_in_the_end);
    EXPECT_EQ(weft_event_set(&event, nullptr), WEFT_OK);
    thread.join();
}

// A domain of three contexts; `decide` lends harts to them.
struct SmallDomain {
    std::mutex lock;
    std::vector<weft_unit*> ready, fresh;
    weft_latch* done = nullptr;
    weft_domain* domain = nullptr;

    virtual ~SmallDomain() = default;
    virtual void decide() = 0;
    virtual void live() = 0;   // a context's body

    // Lets the other contexts of the domain run, and the OS threads that its harts are to come to.
    static void yield() {
        EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        std::this_thread::yield();
    }

    void resume_first() {
        weft_context_resume(ready.back());
        ready.pop_back();
    }
    void run_first() {
        weft_context_run(
            fresh.back(),
            [](void* raw) {
                auto& self = *static_cast<SmallDomain*>(raw);
                self.live();
                weft_latch_count_down(self.done, 1);
            },
            this);
        fresh.pop_back();
    }
    void round() {
        weft_latch all;
        ASSERT_EQ(weft_latch_init(&all, 3), WEFT_OK);
        done = &all;
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        ops.enter = [](void* raw) {
            auto& self = *static_cast<SmallDomain*>(raw);
            std::lock_guard guard(self.lock);
            self.decide();
        };
        ops.unblock = [](void* raw, weft_unit* context) {
            auto& self = *static_cast<SmallDomain*>(raw);
            std::lock_guard guard(self.lock);
            self.ready.insert(self.ready.begin(), context);
        };
        ASSERT_EQ(weft_domain_register(&ops, this, &domain), WEFT_OK);
        std::vector<weft_unit*> contexts(3);
        for (weft_unit*& context : contexts) ASSERT_EQ(weft_context_create(nullptr, 0, &context), WEFT_OK);
        {
            std::lock_guard guard(lock);
            fresh = contexts;
        }
        EXPECT_EQ(weft_domain_request(domain, 3), WEFT_OK);
        EXPECT_EQ(weft_latch_wait(&all), WEFT_OK);
        for (weft_unit* context : contexts) EXPECT_EQ(weft_unit_join_free(context), WEFT_OK);
        EXPECT_EQ(weft_domain_unregister(domain), WEFT_OK);
    }
    // Repeats rounds until `seen` is set.
    void rounds_until(const atomic<int>& seen) {
        for (int i = 0; i < rounds_until_lent && seen.load() == 0; ++i) {
            Ult unit([this] { round(); });
            EXPECT_EQ(unit.join(), WEFT_OK);
        }
        EXPECT_TRUE(seen.load() > 0 || !is_lent_in_the_end);
    }
};

// A domain whose contexts yield, and never run where a guest waits.
struct ShyDomain : SmallDomain {
    atomic<int> passed{0}, refused{0}, misplaced{0};

    void decide() override {
        const bool any = !fresh.empty() || !ready.empty();
        if (any && weft_guest_here() != nullptr) {
            EXPECT_EQ(weft_domain_pass(), WEFT_OK);
            ++passed;
        } else if (any && weft_domain_pass() != WEFT_WRONG_STATE) {
            ADD_FAILURE() << "an OS thread of the runtime's passes its hart on";
        } else if (!fresh.empty()) {
            ++refused;
            run_first();
        } else if (!ready.empty()) {
            resume_first();
        }
    }
    void live() override {
        for (int i = 0; i < 200 && passed.load() == 0; ++i) {
            if (weft_guest_here() != nullptr) ++misplaced;
            yield();
        }
    }
};

TEST(GuestsThread, IsSparedContextsWhoseDomainPassesTheHartOn) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    EXPECT_EQ(weft_domain_pass(), WEFT_WRONG_CONTEXT);
    Runtime runtime;
    EXPECT_EQ(weft_domain_pass(), WEFT_WRONG_CONTEXT);
    EXPECT_EQ(weft_guest_here(), nullptr);
    weft_event event = WEFT_EVENT_INIT;
    weft_latch waits;
    ASSERT_EQ(weft_latch_init(&waits, 1), WEFT_OK);
    pid_t id = 0;
    std::thread thread([&] {
        id = gettid();
        EXPECT_EQ(weft_guest_here(), nullptr);
        Inside in;
        EXPECT_EQ(weft_guest_here(), weft_unit_self());
        EXPECT_EQ(weft_latch_count_down(&waits, 1), WEFT_OK);
        EXPECT_EQ(weft_event_wait(&event, nullptr), WEFT_OK);
    });
    EXPECT_EQ(weft_latch_wait(&waits), WEFT_OK);
    await_sleep(id);
    ShyDomain shy;
    shy.rounds_until(shy.passed);
    EXPECT_GT(shy.refused.load(), 0);
    EXPECT_EQ(shy.misplaced.load(), 0);
    EXPECT_EQ(weft_event_set(&event, nullptr), WEFT_OK);
    thread.join();
}

// A guest that waits until it is notified, and then records that it has gone on.
class Awaited {
public:
    Awaited() {
        EXPECT_EQ(weft_latch_init(&waits_, 1), WEFT_OK);
        pid_t id = 0;
        thread_ = std::thread([&, this] {
            id = gettid();
            Inside in;
            EXPECT_EQ(weft_latch_count_down(&waits_, 1), WEFT_OK);
            EXPECT_EQ(weft_event_wait(&event_, nullptr), WEFT_OK);
            went_.store(true);
        });
        EXPECT_EQ(weft_latch_wait(&waits_), WEFT_OK);
        await_sleep(id);
    }
    void tell() {
        if (told_.exchange(true)) return;
        EXPECT_EQ(weft_event_set(&event_, nullptr), WEFT_OK);
    }
    [[nodiscard]] bool went() const { return went_.load(); }
    void join() {
        tell();
        thread_.join();
    }

private:
    weft_event event_ = WEFT_EVENT_INIT;
    weft_latch waits_{};
    atomic<bool> told_{false}, went_{false};
    std::thread thread_;
};

// A context that runs on the guest's thread wakes the guest, which goes on before anything else on
// its thread.
TEST(GuestsThread, IsItsGuestsAgainAtTheNextSwitch) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    EXPECT_FALSE(weft_guest_awaited());
    Runtime runtime;
    EXPECT_FALSE(weft_guest_awaited());
    struct Telling : SmallDomain {
        Awaited guest;
        atomic<int> told{0};

        void decide() override {
            if (!fresh.empty()) run_first();
            else if (!ready.empty()) resume_first();
        }
        void live() override {
            for (int i = 0; i < 200 && told.load() == 0; ++i) {
                yield();
                if (weft_guest_here() == nullptr || told.exchange(1) != 0) continue;
                EXPECT_FALSE(weft_guest_awaited());
                guest.tell();
                EXPECT_TRUE(weft_guest_awaited());
                EXPECT_FALSE(guest.went());
                EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                EXPECT_FALSE(weft_guest_awaited());
                EXPECT_TRUE(weft_guest_here() == nullptr || guest.went());
            }
        }
    } telling;
    telling.rounds_until(telling.told);
    telling.guest.join();
    EXPECT_TRUE(telling.guest.went());
}

// The context that `enter` has chosen goes back to its domain if the guest can go on meanwhile.
TEST(GuestsThread, RunsNoContextThatIsChosenWhenItsGuestCanGoOn) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    Runtime runtime;
    struct Late : SmallDomain {
        Awaited guest;
        atomic<int> told{0}, misplaced{0};

        void decide() override {
            const bool tells = weft_guest_here() != nullptr && told.load() == 0 && (!fresh.empty() || !ready.empty());
            if (tells) {
                guest.tell();
                EXPECT_TRUE(weft_guest_awaited());
                ++told;
            }
            if (!fresh.empty()) run_first();
            else if (!ready.empty()) resume_first();
        }
        void note() {
            if (told.load() != 0 && weft_guest_here() != nullptr && !guest.went()) ++misplaced;
        }
        void live() override {
            note();
            for (int i = 0; i < 200 && told.load() == 0; ++i) {
                yield();
                note();
            }
        }
    } late;
    late.rounds_until(late.told);
    EXPECT_EQ(late.misplaced.load(), 0);
    late.guest.join();
}

}   // namespace
