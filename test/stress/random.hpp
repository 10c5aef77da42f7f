// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A random program: units of all kinds spawn, yield, suspend, resume, join and detach at random, on
// random streams and pools. The seed decides what each unit does; the schedule is the machine's.
#pragma once

#include <mutex>
#include <vector>

#include "test/stress/stress.hpp"

namespace weft_test {

class RandomProgram {
public:
    RandomProgram(std::uint64_t seed, int units)
        : random_(seed), most_(units), slots_(new Slot[static_cast<std::size_t>(units)]) {}
    RandomProgram(const RandomProgram&) = delete;

    // Runs the program, and checks that each unit ran once and that nothing is left.
    void run() {
        weft_settings settings = with_streams(1 + random_.below(4));
        settings.pool = static_cast<weft_pool_kind>(random_.below(4));
        settings.kind = random_.below(2) == 0 ? WEFT_KIND_FULL : WEFT_KIND_LSA;
        settings.spin_ns = random_.below(2) == 0 ? 1 : 20000;
        if (settings.streams > 1 && random_.below(3) == 0) settings.scheduler = WEFT_SCHED_BASIC;
        Runtime runtime(settings);
        for (std::size_t rank = 0; rank < settings.streams; ++rank) pools_.push_back(pool_of(rank));
        add_stream();
        std::vector<std::thread> wakers;
        for (int i = 0; i < 2; ++i) wakers.emplace_back([this] { wake_from_outside(); });
        std::thread spawner([this, seed = random_.next()] { spawn_from_outside(seed); });
        for (int i = 0; i < 8; ++i) {
            const int slot = claim();
            if (slot >= 0) join_one(spawn(slot, random_.next()), slot);
        }
        while (!spawner_over_.load()) ASSERT_EQ(weft_unit_yield(), WEFT_OK);   // a join would stop stream 0
        spawner.join();
        while (finished_.load() != claimed_.load() || woken_late_.load() != 0) ASSERT_EQ(weft_unit_yield(), WEFT_OK);
        over_ = true;
        for (auto& waker : wakers) waker.join();
        check();
        EXPECT_EQ(weft_stream_join_free(extra_), WEFT_OK);
    }

private:
    struct Slot {
        RandomProgram* program = nullptr;
        std::uint64_t seed = 0;
        std::atomic<int> runs{0};
        std::atomic<bool> ended{false};
        bool tasklet = false, detached = false, throws = false;
    };
    struct Boom {};

    using Random = weft::Random;

    // An additional stream, which draws from a shared pool and from a private one.
    void add_stream() {
        weft_pool* pools[2];
        ASSERT_EQ(weft_pool_create(WEFT_POOL_PRIVATE, &pools[0]), WEFT_OK);
        ASSERT_EQ(weft_pool_create(WEFT_POOL_SHARED, &pools[1]), WEFT_OK);
        weft_stream_options chosen{};
        chosen.size = sizeof chosen;
        ASSERT_EQ(weft_sched_create(WEFT_SCHED_BASIC, pools, 2, &chosen.sched), WEFT_OK);
        ASSERT_EQ(weft_stream_create(&chosen, &extra_), WEFT_OK) << weft_error_text();
        pools_.insert(pools_.end(), pools, pools + 2);
    }

    // A number for a new unit, or -1.
    int claim() {
        const int slot = next_.fetch_add(1);
        if (slot >= most_) return -1;
        claimed_.fetch_add(1);
        return slot;
    }

    // A unit that may throw is joined: a detached one would end the process.
    weft_unit* spawn(int number, std::uint64_t seed, bool may_throw = true) {
        Random random(seed);
        Slot& slot = slots_[static_cast<std::size_t>(number)];
        slot.program = this;
        slot.seed = random.next();
        slot.tasklet = random.below(4) == 0;
        slot.detached = random.below(5) == 0;
        slot.throws = may_throw && !slot.detached && random.below(20) == 0;
        weft_pool* pool =
            random.below(3) == 0 ? nullptr : pools_[random.below(static_cast<std::uint32_t>(pools_.size()))];
        weft_unit* unit = nullptr;
        weft_unit** handle = slot.detached ? nullptr : &unit;
        auto chosen = options();
        if (random.below(3) == 0) chosen.kind = random.below(2) == 0 ? WEFT_KIND_FULL : WEFT_KIND_LSA;
        if (random.below(8) == 0) chosen.stack_bytes = 32768;
        const weft_unit* self = weft_unit_self();
        weft_kind kind = WEFT_KIND_TASKLET;
        if (self != nullptr) weft_unit_kind_get(self, &kind);
        chosen.child_first = kind != WEFT_KIND_TASKLET && random.below(6) == 0;
        const weft_status status =
            slot.tasklet ? weft_tasklet_spawn(pool, body, &slot, nullptr, handle)
                         : weft_ult_spawn(pool, body, &slot, random.below(2) == 0 ? nullptr : &chosen, handle);
        EXPECT_EQ(status, WEFT_OK) << weft_error_text();
        return unit;
    }

    void join_one(weft_unit* unit, int number) {
        if (unit == nullptr) return;   // detached
        const weft_unit_outcome outcome = end_of(unit);
        const Slot& slot = slots_[static_cast<std::size_t>(number)];
        EXPECT_EQ(outcome, slot.throws ? WEFT_OUTCOME_EXCEPTION : WEFT_OUTCOME_RETURNED);
        EXPECT_TRUE(slot.ended.load());
    }

    static void body(void* raw) {
        auto& slot = *static_cast<Slot*>(raw);
        slot.runs.fetch_add(1);
        Random random(slot.seed);
        slot.tasklet ? slot.program->act_as_tasklet(random) : slot.program->act(random);
        slot.ended.store(true);
        slot.program->finished_.fetch_add(1);
        if (slot.throws) throw Boom{};
    }

    void act_as_tasklet(Random& random) {
        EXPECT_EQ(weft_unit_yield(), WEFT_WRONG_KIND);
        if (random.below(3) != 0) return;
        const int slot = claim();
        if (slot < 0) return;
        weft_unit* unit = spawn(slot, random.next(), false);
        if (unit == nullptr) return;
        const weft_status status = weft_unit_detach(unit);
        EXPECT_EQ(status, WEFT_OK) << weft_error_text();
    }

    void act(Random& random) {
        std::vector<weft_unit*> children;
        std::vector<int> numbers;
        for (std::uint32_t steps = random.below(12); steps > 0; --steps) {
            switch (random.below(6)) {
            case 0: EXPECT_EQ(weft_unit_yield(), WEFT_OK); break;
            case 1: suspend(random); break;
            case 2:
                if (!children.empty()) {
                    join_one(children.back(), numbers.back());
                    children.pop_back();
                    numbers.pop_back();
                }
                break;
            default:
                if (const int slot = claim(); slot >= 0) {
                    weft_unit* unit = spawn(slot, random.next());
                    if (unit != nullptr) {
                        children.push_back(unit);
                        numbers.push_back(slot);
                    }
                }
            }
        }
        end_children(random, children, numbers);
    }

    void end_children(Random& random, std::vector<weft_unit*>& children, const std::vector<int>& numbers) {
        switch (random.below(4)) {
        case 0:
            for (std::size_t i = 0; i < children.size(); ++i) join_one(children[i], numbers[i]);
            return;
        case 1:
            for (std::size_t i = 0; i < children.size(); ++i) {
                if (slots_[static_cast<std::size_t>(numbers[i])].throws) join_one(children[i], numbers[i]);
                else EXPECT_EQ(weft_unit_detach(children[i]), WEFT_OK) << weft_error_text();
            }
            return;
        case 2: {
            const weft_status status = weft_unit_join_many(children.data(), children.size());
            EXPECT_TRUE(weft_unit_joined(status)) << weft_status_name(status);
            for (const int number : numbers) EXPECT_TRUE(slots_[static_cast<std::size_t>(number)].ended.load());
            for (weft_unit* child : children) end_of(child);
            return;
        }
        default: {
            const weft_status status = weft_unit_join_free_many(children.data(), children.size());
            EXPECT_TRUE(weft_unit_joined(status)) << weft_status_name(status);
            for (weft_unit* child : children) {
                if (child == nullptr) continue;
                EXPECT_EQ(end_of(child), WEFT_OUTCOME_EXCEPTION);
            }
        }
        }
    }

    void suspend(Random& random) {
        switch (random.below(3)) {
        case 0:   // resumed in publish
            EXPECT_EQ(
                weft_unit_suspend([](weft_unit* unit, void*) { EXPECT_EQ(weft_unit_resume(unit), WEFT_OK); }, nullptr),
                WEFT_OK);
            return;
        case 1:   // resumed by an OS thread
            woken_late_.fetch_add(1);
            EXPECT_EQ(weft_unit_suspend(
                          [](weft_unit* unit, void* raw) {
                              auto& to = *static_cast<RandomProgram*>(raw);
                              std::lock_guard guard(to.lock_);
                              to.sleepers_.push_back(unit);
                          },
                          this),
                      WEFT_OK);
            woken_late_.fetch_sub(1);
            return;
        default: {   // resumed by a unit, elsewhere
            struct Message {
                std::atomic<weft_unit*> unit{nullptr};
            } message;
            const int slot = claim();
            if (slot < 0) return;
            Slot& own = slots_[static_cast<std::size_t>(slot)];
            own.program = this;
            own.runs.fetch_add(1);
            Ult waker(
                [&] {
                    while (message.unit.load() == nullptr) weft_unit_yield();
                    EXPECT_EQ(weft_unit_resume(message.unit.load()), WEFT_OK);
                    own.ended.store(true);
                    finished_.fetch_add(1);
                },
                nullptr, pools_[random.below(static_cast<std::uint32_t>(pools_.size()))]);
            EXPECT_EQ(weft_unit_suspend(
                          [](weft_unit* unit, void* raw) { static_cast<Message*>(raw)->unit.store(unit); }, &message),
                      WEFT_OK);
            EXPECT_EQ(waker.join(), WEFT_OK);
        }
        }
    }

    void wake_from_outside() {
        while (!over_.load()) {
            std::vector<weft_unit*> taken;
            {
                std::lock_guard guard(lock_);
                taken.swap(sleepers_);
            }
            for (weft_unit* unit : taken) EXPECT_EQ(weft_unit_resume(unit), WEFT_OK);
            if (taken.empty()) std::this_thread::yield();
        }
    }

    // An OS thread that is no stream spawns and joins.
    void spawn_from_outside(std::uint64_t seed) {
        Random random(seed);
        for (int i = 0; i < 10; ++i) {
            const int slot = claim();
            if (slot < 0) break;
            join_one(spawn(slot, random.next()), slot);
        }
        spawner_over_ = true;
    }

    void check() {
        const int used = claimed_.load();
        for (int i = 0; i < used; ++i) {
            ASSERT_EQ(slots_[static_cast<std::size_t>(i)].runs, 1) << "unit " << i;
            ASSERT_TRUE(slots_[static_cast<std::size_t>(i)].ended) << "unit " << i;
        }
        // detached units are freed after their bodies end
        while (units_alive() > 1) ASSERT_EQ(weft_unit_yield(), WEFT_OK);
        const auto expected = static_cast<std::uint64_t>(used);
        while (counter("/units/count/finished") != expected) ASSERT_EQ(weft_unit_yield(), WEFT_OK);
        EXPECT_EQ(counter("/units/count/created"), expected);
    }

    Random random_;
    const int most_;
    std::unique_ptr<Slot[]> slots_;
    std::vector<weft_pool*> pools_;
    weft_stream* extra_ = nullptr;
    std::atomic<int> next_{0}, claimed_{0}, finished_{0}, woken_late_{0};
    std::atomic<bool> over_{false}, spawner_over_{false};
    std::mutex lock_;
    std::vector<weft_unit*> sleepers_;
};

}   // namespace weft_test
