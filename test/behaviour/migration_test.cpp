// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that go from one OS thread to another: what belongs to the unit comes along, what belongs
// to the thread does not.
#include <cerrno>
#include <deque>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/stress/stress.hpp"

using namespace weft_test;

namespace {

// A pool that gives no unit to the stream that pushed it: after each suspension, a unit goes on on
// another OS thread.
class Movers {
public:
    explicit Movers(std::size_t streams) {
        weft_pool_ops ops{};
        ops.size = sizeof ops;
        ops.push = [](void* self, weft_unit* unit) { static_cast<Movers*>(self)->push(unit); };
        ops.pop = [](void* self) { return static_cast<Movers*>(self)->pop(); };
        ops.length = [](const void* self) { return static_cast<const Movers*>(self)->length(); };
        EXPECT_EQ(weft_pool_create_user(&ops, this, &pool_), WEFT_OK);
        weft_stream_options chosen{};
        chosen.size = sizeof chosen;
        chosen.pool = pool_;
        streams_.resize(streams);
        for (auto& stream : streams_) EXPECT_EQ(weft_stream_create(&chosen, &stream), WEFT_OK) << weft_error_text();
    }
    ~Movers() {
        for (auto* stream : streams_) EXPECT_EQ(weft_stream_join_free(stream), WEFT_OK);
        EXPECT_EQ(weft_pool_free(pool_), WEFT_OK);
    }
    Movers(const Movers&) = delete;
    weft_pool* pool() const { return pool_; }

private:
    struct Entry {
        weft_unit* unit;
        weft_stream* from;
    };

    void push(weft_unit* unit) {
        std::lock_guard guard(lock_);
        entries_.push_back({unit, weft_stream_self()});
    }
    weft_unit* pop() {
        {
            std::lock_guard guard(lock_);
            for (auto at = entries_.begin(); at != entries_.end(); ++at) {
                if (at->from == weft_stream_self()) continue;
                weft_unit* unit = at->unit;
                entries_.erase(at);
                return unit;
            }
        }
        std::this_thread::yield();   // what waits here is for another OS thread
        return nullptr;
    }
    std::size_t length() const {
        std::lock_guard guard(lock_);
        return entries_.size();
    }

    mutable std::mutex lock_;
    std::deque<Entry> entries_;
    weft_pool* pool_ = nullptr;
    std::vector<weft_stream*> streams_;
};

// Suspends, and is resumed at once; it goes on on another OS thread.
[[gnu::noinline]] void move() {
    weft_stream* const before = weft_stream_self();
    ASSERT_EQ(weft_unit_suspend([](weft_unit* self, void*) { ASSERT_EQ(weft_unit_resume(self), WEFT_OK); }, nullptr),
              WEFT_OK);
    ASSERT_NE(weft_stream_self(), before);
}

// glibc declares the function behind errno `const`, so a compiler may keep its address in a
// register across a call that moves the caller to another OS thread. It cannot when the access is
// out of line: each call reads the address anew.
[[gnu::noinline]] int error() {
    asm volatile("");   // so that the compiler does not take it for pure
    return errno;
}
[[gnu::noinline]] void set_error(int number) { errno = number; }

struct Own : std::runtime_error {
    Own(int unit, int level) : std::runtime_error(std::to_string(unit) + "/" + std::to_string(level)) {}
};

std::string current() {
    if (!std::current_exception()) return "none";
    try {
        throw;
    } catch (const std::exception& error) {
        return error.what();
    }
}

// Throws, moves inside each catch, and rethrows, down to `level` 0.
void nest(int unit, int level) {
    const std::string mine = Own(unit, level).what();
    try {
        throw Own(unit, level);
    } catch (...) {
        move();
        ASSERT_EQ(current(), mine);
        if (level > 0) nest(unit, level - 1);
        ASSERT_EQ(current(), mine) << "the inner exception is over, the outer one goes on";
        move();
        try {
            throw;
        } catch (const Own& again) {
            ASSERT_EQ(again.what(), mine);
        }
    }
}

// Moves while an exception is in flight.
struct MovesWhileUnwinding {
    int expected;
    ~MovesWhileUnwinding() {
        EXPECT_EQ(std::uncaught_exceptions(), expected);
        move();
        EXPECT_EQ(std::uncaught_exceptions(), expected);
    }
};

constexpr int crowd = 24;
constexpr int moves_each = sanitized ? 60 : 500;   // times 24: more than 10,000 moves in a plain build

template <class Body>
void crowd_of(weft_pool* pool, Body body) {
    std::vector<std::unique_ptr<Ult>> units;
    for (int i = 0; i < crowd; ++i) units.push_back(std::make_unique<Ult>([i, &body] { body(i); }, nullptr, pool));
    for (auto& unit : units) EXPECT_EQ(unit->join(), WEFT_OK);
}

}   // namespace

TEST(Migration, ErrnoStaysWithItsUnit) {
    const Deadline deadline(120);
    Runtime runtime;
    Movers movers(3);
    crowd_of(movers.pool(), [](int id) {
        EXPECT_EQ(error(), 0) << "a unit starts with none";
        for (int i = 0; i < moves_each; ++i) {
            set_error(id * 1000 + i);
            move();
            ASSERT_EQ(error(), id * 1000 + i);
        }
    });
}

TEST(Migration, AnExceptionStaysWithItsUnit) {
    const Deadline deadline(120);
    Runtime runtime;
    Movers movers(3);
    crowd_of(movers.pool(), [](int id) {
        EXPECT_EQ(current(), "none");
        for (int i = 0; i < moves_each / 8; ++i) {
            nest(id, 3);   // 8 moves
            ASSERT_EQ(current(), "none");
        }
    });
}

TEST(Migration, AnExceptionInFlightStaysWithItsUnit) {
    const Deadline deadline(120);
    Runtime runtime;
    Movers movers(2);
    crowd_of(movers.pool(), [](int id) {
        for (int i = 0; i < moves_each / 4; ++i) {
            EXPECT_EQ(std::uncaught_exceptions(), 0);
            try {
                const MovesWhileUnwinding outer{1};
                if (id % 2 == 0) move();
                throw Own(id, i);
            } catch (const Own& own) {
                ASSERT_EQ(own.what(), std::string(Own(id, i).what()));
            }
            EXPECT_EQ(std::uncaught_exceptions(), 0);
        }
    });
}

TEST(Migration, LocalsInRegistersComeAlong) {
    const Deadline deadline(120);
    Runtime runtime;
    Movers movers(3);
    crowd_of(movers.pool(), [](int id) {
        // More values that live across the move than there are callee-saved registers, integers and
        // floating point.
        std::uint64_t a = static_cast<std::uint64_t>(id), b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5,
                      g = a + 6;
        double x = id, y = id + 0.5, z = id + 0.25;
        for (int i = 0; i < moves_each; ++i) {
            move();
            a += 7;
            b += 7;
            c += 7;
            d += 7;
            e += 7;
            f += 7;
            g += 7;
            x += 1;
            y += 1;
            z += 1;
        }
        const auto base = static_cast<std::uint64_t>(id) + 7u * moves_each;
        EXPECT_EQ(a + b + c + d + e + f + g, 7 * base + 21);
        EXPECT_EQ(x + y + z, 3 * (id + moves_each) + 0.75);
    });
}

TEST(Migration, AUnitStartsWithEmptyStateWhateverItsSpawnerIsIn) {
    const Deadline deadline(120);
    Runtime runtime;
    Movers movers(2);
    static auto expect_empty = [](void*) {
        EXPECT_EQ(error(), 0);
        EXPECT_EQ(std::uncaught_exceptions(), 0);
        EXPECT_EQ(std::current_exception(), nullptr);
        set_error(ENOENT);
    };
    crowd_of(movers.pool(), [&movers](int id) {
        try {
            throw Own(id, 0);
        } catch (const Own& own) {
            set_error(EDOM);
            auto chosen = options();
            chosen.child_first = id % 3 == 0;
            weft_unit* child = nullptr;
            if (id % 3 == 1) {
                ASSERT_EQ(weft_tasklet_spawn(movers.pool(), expect_empty, nullptr, nullptr, &child), WEFT_OK);
            } else {
                ASSERT_EQ(weft_ult_spawn(movers.pool(), expect_empty, nullptr, &chosen, &child), WEFT_OK);
            }
            EXPECT_EQ(weft_unit_join_free(child), WEFT_OK);
            EXPECT_EQ(error(), EDOM);
            EXPECT_EQ(current(), own.what());
        }
    });
}

TEST(Migration, WhatAUnitThrowsArrivesAtAJoinerOnAnotherStream) {
    const Deadline deadline(120);
    Runtime runtime;
    Movers movers(3);
    crowd_of(movers.pool(), [&movers](int id) {
        for (int i = 0; i < moves_each / 20; ++i) {
            Ult child(
                [id, i] {
                    move();
                    throw Own(id, i);
                },
                nullptr, movers.pool());
            ASSERT_EQ(child.outcome(), WEFT_OUTCOME_EXCEPTION);
            auto* kept = static_cast<std::exception_ptr*>(value_of(weft_unit_exception_get, child.handle()));
            ASSERT_NE(kept, nullptr);
            try {
                std::rethrow_exception(*kept);
            } catch (const Own& own) {
                move();
                ASSERT_EQ(own.what(), std::string(Own(id, i).what()));
            }
        }
    });
}

// The built-in way to move: random stealing from deques, with children of all kinds.
TEST(Migration, StolenUnitsKeepTheirState) {
    const Deadline deadline(120);
    for (const std::size_t streams : {2u, 4u}) {
        Runtime runtime(streams);
        static atomic<int> leaves;
        leaves = 0;
        struct Tree {
            static void grow(int depth, int id) {
                set_error(id);
                try {
                    throw Own(id, depth);
                } catch (...) {
                    const std::string mine = Own(id, depth).what();
                    if (depth == 0) {
                        leaves.fetch_add(1);
                        weft_unit_yield();
                    } else {
                        Ult left([=] { grow(depth - 1, 2 * id); });
                        Ult right([=] { grow(depth - 1, 2 * id + 1); });
                        weft_unit_yield();
                        EXPECT_EQ(left.join(), WEFT_OK);
                        EXPECT_EQ(right.join(), WEFT_OK);
                    }
                    EXPECT_EQ(error(), id);
                    EXPECT_EQ(current(), mine);
                }
            }
        };
        constexpr int depth = sanitized ? 7 : 11;
        Ult root([] { Tree::grow(depth, 1); });
        EXPECT_EQ(root.join(), WEFT_OK);
        EXPECT_EQ(leaves, 1 << depth);
    }
}
