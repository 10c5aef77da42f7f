// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys that follow units: a library's thread_local word is right in each unit that has a value, and
// empty in all others.
#include <optional>
#include <random>
#include <vector>

#include "test/behaviour/several.hpp"
#include "weft/weft.hpp"

using namespace weft_test;

namespace {

thread_local void* volatile word = nullptr;
void* own_word = nullptr;   // the word of the testing thread

[[gnu::noinline]] void* read_word() { return word; }
[[gnu::noinline]] void write_word(void* to) { word = to; }

std::atomic<int> left{0}, returned{0};

// Used as a library would use it: where a unit has no value, the word is that of its OS thread, if
// the unit runs by that thread's thread-local storage.
class Following {
public:
    Following() {
        weft_key_options options{};
        options.size = sizeof options;
        options.destructor = [](void*) { write_word(nullptr); };
        options.leaves = [](void*) {
            ++left;
            write_word(nullptr);
        };
        options.returns = [](void* value) {
            ++returned;
            if (value != nullptr) write_word(value);
            else if (weft_thread_local_own()) write_word(own_word);
        };
        EXPECT_EQ(weft_key_create_with(&options, &key_), WEFT_OK) << weft_error_text();
        left = returned = 0;
        own_word = nullptr;
        write_word(nullptr);
    }
    ~Following() {
        EXPECT_EQ(weft_key_free(key_), WEFT_OK);
        write_word(nullptr);
    }
    Following(const Following&) = delete;

    void* claim() const {
        void* const mine = weft_unit_self();
        EXPECT_EQ(weft_local_set(key_, mine), WEFT_OK);
        write_word(mine);
        return mine;
    }
    weft_key* key() const { return key_; }

private:
    weft_key* key_ = nullptr;
};

constexpr weft_kind ult_kinds[] = {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC,
                                   WEFT_KIND_SS,   WEFT_KIND_SC,  WEFT_KIND_AUTO};
constexpr weft_kind all_kinds[] = {WEFT_KIND_FULL, WEFT_KIND_LSA,  WEFT_KIND_ROC, WEFT_KIND_SS,
                                   WEFT_KIND_SC,   WEFT_KIND_AUTO, WEFT_KIND_RTC};

// Units that claim the word, or do not, and that wait in every way while others run.
class Tree {
public:
    Tree(const Following& following, unsigned seed) : following_(following), seed_(seed) {}

    void run(unsigned depth, bool may_suspend, unsigned salt) {
        std::mt19937 random(seed_ + salt % 1'000'000 + 1);
        EXPECT_EQ(read_word(), nullptr);
        void* mine = nullptr;
        const bool claims = random() % 2 == 0;
        for (int step = 0; step < 4; ++step) {
            if (claims && step == static_cast<int>(random() % 2)) mine = following_.claim();
            if (may_suspend) wait_somehow(depth, random);
            EXPECT_EQ(read_word(), mine) << "seed " << seed_ << ", depth " << depth << ", step " << step;
        }
    }

private:
    struct Child {
        Tree* tree;
        unsigned depth, salt;
        bool may_suspend;
    };

    void wait_somehow(unsigned depth, std::mt19937& random) {
        switch (depth == 0 ? 0 : random() % 4) {
        case 0: weft_unit_yield(); return;
        case 1: try { throw 1;
            } catch (int) {
                spawn(depth, random, 1);
            }
            return;
        default: spawn(depth, random, 1 + random() % 3);
        }
    }

    void spawn(unsigned depth, std::mt19937& random, unsigned count) {
        std::vector<Child> children(count);
        std::vector<weft_unit*> units(count);
        for (unsigned i = 0; i < count; ++i) {
            auto chosen = options();
            chosen.kind = all_kinds[random() % std::size(all_kinds)];
            children[i] = {this, depth - 1, static_cast<unsigned>(random()), chosen.kind != WEFT_KIND_RTC};
            chosen.child_first = children[i].may_suspend && chosen.kind != WEFT_KIND_SS &&
                                 chosen.kind != WEFT_KIND_SC && random() % 3 == 0;
            const auto body = [](void* raw) {
                const Child& child = *static_cast<Child*>(raw);
                child.tree->run(child.depth, child.may_suspend, child.salt);
            };
            EXPECT_EQ(weft_ult_spawn(nullptr, body, &children[i], &chosen, &units[i]), WEFT_OK) << weft_error_text();
        }
        if (random() % 2 == 0) {
            EXPECT_EQ(weft_unit_join_free_many(units.data(), count), WEFT_OK) << weft_error_text();
        } else {
            for (weft_unit* unit : units) EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK) << weft_error_text();
        }
    }

    const Following& following_;
    const unsigned seed_;
};

void grow_trees(std::size_t streams, weft_pool_kind pool) {
    auto settings = with_streams(streams);
    settings.pool = pool;
    Runtime runtime(settings);
    Following following;
    for (unsigned seed = 1; seed <= 20; ++seed) {
        Tree tree(following, seed);
        auto chosen = options();
        chosen.kind = ult_kinds[seed % std::size(ult_kinds)];
        Ult root([&] { tree.run(3, true, 0); }, &chosen);
        EXPECT_EQ(root.free(), WEFT_OK);
    }
    EXPECT_EQ(left, returned);
    EXPECT_GT(left, 0);
}

}   // namespace

TEST(Followed, EachUnitFindsItsOwnWordInAPrivatePool) { grow_trees(1, WEFT_POOL_PRIVATE); }
TEST(Followed, EachUnitFindsItsOwnWordInASharedPool) { grow_trees(1, WEFT_POOL_SHARED); }
TEST(Followed, EachUnitFindsItsOwnWordWhereUnitsAreStolen) { grow_trees(2, WEFT_POOL_DEQUE); }

// Each unit is called by its joiner, the primary unit, which has a word of its own.
TEST(Followed, AUnitThatIsCalledByItsJoinerFindsNoWordOfThat) {
    Runtime runtime;
    Following following;
    void* const mine = following.claim();
    for (const weft_kind kind : all_kinds) {
        auto chosen = options();
        chosen.kind = kind;
        std::vector<weft_unit*> units(5);
        static void* seen[5];
        for (int i = 0; i < 5; ++i) {
            seen[i] = &seen;
            EXPECT_EQ(
                weft_ult_spawn(
                    nullptr, [](void* raw) { *static_cast<void**>(raw) = read_word(); }, &seen[i], &chosen, &units[i]),
                WEFT_OK);
        }
        if (kind == WEFT_KIND_FULL) {
            for (weft_unit* unit : units) EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        } else {
            EXPECT_EQ(weft_unit_join_free_many(units.data(), 5), WEFT_OK);
        }
        for (void* const word_of_unit : seen) EXPECT_EQ(word_of_unit, nullptr) << kind;
        EXPECT_EQ(read_word(), mine);
    }
    EXPECT_EQ(weft_local_set(following.key(), nullptr), WEFT_OK);
    write_word(nullptr);
}

// While a unit runs another as its child, as a scheduler does, and afterwards, when it joins a unit
// that it might call.
TEST(Followed, AUnitThatAnotherRunsFindsNoWordOfThat) {
    Runtime runtime;
    Following following;
    for (const weft_kind kind : ult_kinds) {
        auto chosen = options();
        chosen.kind = kind;
        void* seen[] = {&seen, &seen};
        Ult runs(
            [&] {
                void* const mine = following.claim();
                weft_pool* const pool = make_pool(WEFT_POOL_SHARED);
                {
                    Ult child([&] { seen[0] = read_word(); }, nullptr, pool);
                    weft_unit* popped = nullptr;
                    EXPECT_EQ(weft_pool_pop(pool, &popped), WEFT_OK);
                    EXPECT_EQ(weft_unit_run(popped), WEFT_OK) << weft_error_text();
                    EXPECT_EQ(read_word(), mine);
                }
                EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
                Ult next([&] { seen[1] = read_word(); });
                EXPECT_EQ(next.free(), WEFT_OK);
                EXPECT_EQ(read_word(), mine);
            },
            &chosen);
        EXPECT_EQ(runs.free(), WEFT_OK);
        EXPECT_EQ(seen[0], nullptr) << kind;
        EXPECT_EQ(seen[1], nullptr) << kind;
    }
}

// The job runs on the scheduler's stack, keeps that once it is bound, and goes on. From then on it
// could call the unit that it joins.
TEST(Followed, AUnitThatATakenJobJoinsFindsNoWordOfThat) {
    auto settings = with_streams(1);
    settings.pool = WEFT_POOL_PRIVATE;
    Runtime runtime(settings);
    Following following;
    weft_pool* const pool = make_pool(WEFT_POOL_SHARED);
    weft_stream* const zero = weft_stream_self();
    std::optional<Stream> other(pool);
    std::atomic<bool> taken{false};
    void* seen = &seen;
    Ult owner(
        [&] {
            weft::invoke([&] { until([&] { return taken.load(); }); },
                         [&] {
                             taken = true;
                             EXPECT_EQ(weft_stream_self(), zero);
                             void* const mine = following.claim();
                             weft_pool* former = nullptr;
                             EXPECT_EQ(weft_unit_bind(&former), WEFT_OK) << weft_error_text();
                             Ult next([&] { seen = read_word(); });
                             EXPECT_EQ(next.free(), WEFT_OK);
                             EXPECT_EQ(read_word(), mine);
                             EXPECT_EQ(weft_unit_unbind(former), WEFT_OK);
                         });
        },
        nullptr, pool);
    EXPECT_EQ(owner.free(), WEFT_OK);
    EXPECT_EQ(seen, nullptr);
    other.reset();
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Followed, AUnitWithoutAValueIsNotToldOf) {
    Runtime runtime;
    Following following;
    Ult one([] { weft_unit_yield(); });
    Ult other([] { weft_unit_yield(); });
    EXPECT_EQ(one.free(), WEFT_OK);
    EXPECT_EQ(other.free(), WEFT_OK);
    EXPECT_EQ(left, 0);
    EXPECT_EQ(returned, 0);
}

// The guest's word exists before the thread is a unit; the key may be created before its first
// entry, or after.
TEST(Followed, AGuestKeepsTheWordOfItsThread) {
    for (const bool before : {true, false}) {
        Runtime runtime(2);
        std::unique_ptr<Following> following;
        if (before) following = std::make_unique<Following>();
        std::thread guest([&] {
            const auto enter = [] { EXPECT_EQ(weft_guest_enter(), WEFT_OK); };
            if (!before) {
                enter();
                following = std::make_unique<Following>();
            }
            write_word(&guest);
            own_word = &guest;
            if (before) enter();
            for (int i = 0; i < 10; ++i) {
                Ult unit([] {
                    EXPECT_EQ(read_word(), nullptr);
                    weft_unit_yield();
                });
                EXPECT_EQ(unit.free(), WEFT_OK);
                EXPECT_EQ(read_word(), &guest);
            }
            EXPECT_TRUE(weft_thread_local_own());
            EXPECT_EQ(weft_guest_leave(), WEFT_OK);
        });
        guest.join();
        EXPECT_GT(returned, 0);
    }
}

TEST(Followed, ThePrimaryUnitIsToldThatItsThreadHasBecomeOne) {
    Following following;
    own_word = &following;
    Runtime runtime;
    EXPECT_EQ(returned, 1);
    EXPECT_EQ(read_word(), &following);
    write_word(nullptr);
}

TEST(Followed, OnlyTheUnitItselfSetsAValueUnderSuchAKey) {
    Runtime runtime;
    Following following;
    Ult unit([] {});
    EXPECT_EQ(weft_unit_local_set(unit.handle(), following.key(), &unit), WEFT_WRONG_CONTEXT);
    EXPECT_EQ(unit.free(), WEFT_OK);
}

TEST(Followed, AKeyHasBothCallsOrNeither) {
    weft_key_options one{};
    one.size = sizeof one;
    one.leaves = [](void*) {};
    weft_key* key = nullptr;
    EXPECT_EQ(weft_key_create_with(&one, &key), WEFT_INVALID);
    EXPECT_EQ(weft_key_create_with(nullptr, &key), WEFT_INVALID);
    EXPECT_EQ(weft_key_create_with(&one, nullptr), WEFT_INVALID);
    one.size = 1;
    EXPECT_EQ(weft_key_create_with(&one, &key), WEFT_INVALID);
}

TEST(Followed, ThereIsRoomForEightSuchKeys) {
    std::vector<std::unique_ptr<Following>> all(8);
    for (auto& one : all) one = std::make_unique<Following>();
    weft_key_options ninth{};
    ninth.size = sizeof ninth;
    ninth.leaves = ninth.returns = [](void*) {};
    weft_key* key = nullptr;
    EXPECT_EQ(weft_key_create_with(&ninth, &key), WEFT_NO_MEMORY);
    all.pop_back();
    EXPECT_EQ(weft_key_create_with(&ninth, &key), WEFT_OK);
    EXPECT_EQ(weft_key_free(key), WEFT_OK);
}

TEST(Followed, ThreadLocalMemoryIsOwnOnlyWhereNoOtherUnitRunsByIt) {
    EXPECT_TRUE(weft_thread_local_own());
    Runtime runtime;
    EXPECT_TRUE(weft_thread_local_own());
    for (const weft_kind kind : {WEFT_KIND_FULL, WEFT_KIND_SC, WEFT_KIND_RTC, WEFT_KIND_HOSTED}) {
        auto chosen = options();
        chosen.kind = kind;
        static bool own;
        weft_unit* unit = nullptr;
        EXPECT_EQ(weft_ult_spawn(
                      nullptr, [](void*) { own = weft_thread_local_own(); }, nullptr, &chosen, &unit),
                  WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        EXPECT_EQ(own, kind == WEFT_KIND_HOSTED) << kind;
    }
}
