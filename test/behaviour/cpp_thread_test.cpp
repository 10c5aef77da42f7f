// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// weft::thread and weft::tasklet behave like std::jthread: copies, moves, joins, ids.
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "base/config.hpp"
#include "os/fault.hpp"
#include "test/behaviour/atomic.hpp"
#include "test/behaviour/value_of.hpp"

namespace {

// Each test runs with one stream and with several.
class CppThread : public testing::TestWithParam<std::size_t> {
protected:
    weft::runtime runtime_{{.streams = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(Streams, CppThread, testing::Values(1, 3), testing::PrintToStringParamName());

weft_status code_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const weft::error& error) {
        EXPECT_STRNE(error.what(), "");
        return error.code();
    }
    return WEFT_OK;
}

// Counts how many objects of this type live, and how many were destroyed while they still had their
// content.
struct Tracked {
    explicit Tracked(weft_test::atomic<int>& ends) : ends_(&ends) {}
    Tracked(Tracked&& other) noexcept : ends_(std::exchange(other.ends_, nullptr)) {}
    Tracked(const Tracked&) = delete;
    ~Tracked() {
        if (ends_ != nullptr) ends_->fetch_add(1);
    }

private:
    weft_test::atomic<int>* ends_;
};

TEST_P(CppThread, AThreadRunsItsCallableWithCopiesOfTheArguments) {
    int number = 1;
    std::string seen;
    weft::thread thread([&seen](int copy, const std::string& text) { seen = text + std::to_string(copy); }, number,
                        "n = ");
    number = 2;
    thread.join();
    EXPECT_EQ(seen, "n = 1");
}

TEST_P(CppThread, AReferenceWrapperPassesAReference) {
    int number = 1;
    weft::thread([](int& reference) { reference = 7; }, std::ref(number)).join();
    EXPECT_EQ(number, 7);
}

TEST_P(CppThread, ArgumentsAndCallableMayBeMoveOnly) {
    int seen = 0;
    auto callable = [&seen, kept = std::make_unique<int>(40)](std::unique_ptr<int> given) { seen = *kept + *given; };
    weft::thread(std::move(callable), std::make_unique<int>(2)).join();
    EXPECT_EQ(seen, 42);
}

TEST_P(CppThread, AMemberFunctionIsCalledOnItsObject) {
    struct Counter {
        void add(int by) { sum += by; }
        int sum = 0;
    } counter;
    weft::thread(&Counter::add, &counter, 5).join();
    EXPECT_EQ(counter.sum, 5);
}

weft_test::atomic<int> called_plainly{0};
void plain_function() { called_plainly.fetch_add(1); }

TEST_P(CppThread, ACallableThatFitsAPointerTravelsWhole) {
    called_plainly = 0;
    weft_test::atomic<int> sum{0};
    struct {
        short one = 3;
        int two = 4;
    } small;
    weft::thread function(plain_function);
    weft::thread captured([&sum] { sum.fetch_add(1); });
    weft::thread empty([] { called_plainly.fetch_add(10); });
    weft::thread packed([small] { called_plainly.fetch_add(100 * (small.one + small.two)); });
    for (auto* thread : {&function, &captured, &empty, &packed}) thread->join();
    EXPECT_EQ(sum, 1);
    EXPECT_EQ(called_plainly, 711);
}

TEST_P(CppThread, TheDestructorJoins) {
    weft_test::atomic<bool> ended{false};
    {
        weft::thread thread([&ended] {
            for (int i = 0; i < 10; ++i) weft::this_thread::yield();
            ended = true;
        });
    }
    EXPECT_TRUE(ended);
}

TEST_P(CppThread, JoinLeavesNothingToJoin) {
    weft::thread thread([] {});
    EXPECT_TRUE(thread.joinable());
    EXPECT_NE(thread.get_id(), weft::thread::id());
    thread.join();
    EXPECT_FALSE(thread.joinable());
    EXPECT_EQ(thread.get_id(), weft::thread::id());
    EXPECT_EQ(thread.native_handle(), nullptr);
    EXPECT_EQ(code_of([&] { thread.join(); }), WEFT_INVALID);
    EXPECT_EQ(code_of([&] { thread.detach(); }), WEFT_INVALID);
}

TEST_P(CppThread, ADefaultConstructedOneOwnsNothing) {
    weft::thread thread;
    EXPECT_FALSE(thread.joinable());
    EXPECT_EQ(code_of([&] { thread.join(); }), WEFT_INVALID);
}

TEST_P(CppThread, AThreadCannotJoinItself) {
    weft_status code = WEFT_OK;
    weft::thread thread;
    weft_test::atomic<bool> stored{false};
    thread = weft::thread([&] {
        while (!stored) weft::this_thread::yield();
        code = code_of([&] { thread.join(); });
    });
    stored = true;
    thread.join();
    EXPECT_EQ(code, WEFT_WRONG_STATE);
}

TEST_P(CppThread, TryJoinSaysWhetherItHasEnded) {
    weft_test::atomic<bool> go{false};
    weft::thread thread([&go] {
        while (!go) weft::this_thread::yield();
    });
    EXPECT_FALSE(thread.try_join());
    EXPECT_TRUE(thread.joinable());
    go = true;
    while (!thread.try_join()) weft::this_thread::yield();
    EXPECT_FALSE(thread.joinable());
}

TEST_P(CppThread, MovingCarriesTheThreadAlong) {
    weft_test::atomic<bool> go{false};
    weft::thread first([&go] {
        while (!go) weft::this_thread::yield();
    });
    const auto id = first.get_id();
    weft::thread second(std::move(first));
    EXPECT_FALSE(first.joinable());
    EXPECT_EQ(second.get_id(), id);
    weft::thread third;
    third = std::move(second);
    EXPECT_FALSE(second.joinable());
    EXPECT_EQ(third.get_id(), id);
    go = true;
    third.join();
}

TEST_P(CppThread, MoveAssignmentJoinsWhatWasThere) {
    weft_test::atomic<bool> ended{false};
    weft::thread thread([&ended] {
        for (int i = 0; i < 10; ++i) weft::this_thread::yield();
        ended = true;
    });
    thread = weft::thread([] {});
    EXPECT_TRUE(ended);
    thread.join();
}

TEST_P(CppThread, SwapExchangesTwoThreads) {
    weft::thread one([] {});
    weft::thread other([] {});
    const auto id_of_one = one.get_id();
    const auto id_of_other = other.get_id();
    swap(one, other);
    EXPECT_EQ(one.get_id(), id_of_other);
    EXPECT_EQ(other.get_id(), id_of_one);
    one.swap(other);
    EXPECT_EQ(one.get_id(), id_of_one);
}

TEST_P(CppThread, ADetachedThreadRunsOnItsOwn) {
    weft_test::atomic<bool> ran{false};
    weft_test::atomic<int> ends{0};
    weft::thread thread([&ran, kept = Tracked(ends)] { ran = true; });
    thread.detach();
    EXPECT_FALSE(thread.joinable());
    while (ends < 1) weft::this_thread::yield();
    EXPECT_TRUE(ran);
}

TEST_P(CppThread, IdsAreUniqueOrderedHashableAndPrintable) {
    std::vector<weft::thread> threads;
    for (int i = 0; i < 20; ++i) threads.emplace_back([] {});
    std::set<weft::thread::id> ordered;
    std::unordered_set<weft::thread::id> hashed;
    for (const auto& thread : threads) {
        ordered.insert(thread.get_id());
        hashed.insert(thread.get_id());
        std::ostringstream text;
        text << thread.get_id();
        EXPECT_EQ(text.str(), std::to_string(thread.get_id().number()));
    }
    EXPECT_EQ(ordered.size(), threads.size());
    EXPECT_EQ(hashed.size(), threads.size());
    weft::join_all(threads);
}

TEST_P(CppThread, AThreadKnowsItsIdAndName) {
    weft::thread::id seen;
    std::string name;
    std::string renamed;
    weft::thread thread({.name = "spindle"}, [&] {
        seen = weft::this_thread::get_id();
        name = weft::this_thread::name();
        weft::this_thread::set_name("bobbin");
        renamed = weft::this_thread::name();
    });
    const auto id = thread.get_id();
    thread.join();
    EXPECT_EQ(seen, id);
    EXPECT_EQ(name, "spindle");
    EXPECT_EQ(renamed, "bobbin");
}

TEST_P(CppThread, OutsideOfUnitsThereIsNobody) {
    weft::thread::id id(1);
    weft_status yielded = WEFT_OK;
    weft_status ended = WEFT_OK;
    std::thread outside([&] {
        id = weft::this_thread::get_id();
        yielded = code_of([] { weft::this_thread::yield(); });
        ended = code_of([] { weft::this_thread::exit(); });
    });
    outside.join();
    EXPECT_EQ(id, weft::thread::id());
    EXPECT_EQ(yielded, WEFT_WRONG_CONTEXT);
    EXPECT_EQ(ended, WEFT_WRONG_CONTEXT);
}

TEST_P(CppThread, AnOsThreadOutsideCanSpawnAndJoin) {
    weft_test::atomic<int> ran{0};
    // The primary unit must let its stream run the thread, so it cannot block in std::thread::join.
    weft_test::atomic<bool> joined{false};
    std::thread outside([&] {
        weft::thread([&ran] { ran.fetch_add(1); }).join();
        joined = true;
    });
    while (!joined) weft::this_thread::yield();
    outside.join();
    EXPECT_EQ(ran, 1);
}

TEST_P(CppThread, TheClosureIsDestroyedOnceWhenTheBodyEnds) {
    weft_test::atomic<int> ends{0};
    weft_test::atomic<int> ends_of_argument{0};
    weft::thread thread([kept = Tracked(ends)](const Tracked&) {}, Tracked(ends_of_argument));
    const weft::unit_ref unit = thread;
    while (unit.state() != weft::unit_state::done) weft::this_thread::yield();
    EXPECT_EQ(ends, 1);   // before the join
    EXPECT_EQ(ends_of_argument, 1);
    thread.join();
    EXPECT_EQ(ends, 1);
    EXPECT_EQ(ends_of_argument, 1);
}

TEST_P(CppThread, TheClosureIsDestroyedOnceWhenTheBodyThrows) {
    weft_test::atomic<int> ends{0};
    weft::thread thread([kept = Tracked(ends)] { throw std::runtime_error("torn"); });
    EXPECT_THROW(thread.join(), std::runtime_error);
    EXPECT_EQ(ends, 1);
}

TEST_P(CppThread, EachAttributeReachesTheUnit) {
    EXPECT_EQ(code_of([&] { weft::thread thread({.fresh = true}, [] {}); }), WEFT_INVALID) << "of hosted ones alone";
    int data = 0;
    weft_test::atomic<int> released{0};
    static weft_test::atomic<int>* releases;
    releases = &released;
    const auto release = [](void* given) { releases->fetch_add(given != nullptr); };
    weft::thread keeps({.data = &data, .release = release}, [] {});
    EXPECT_EQ(weft_test::value_of(weft_unit_data_get, keeps.native_handle()), &data);
    keeps.join();
    EXPECT_EQ(released, 1);
    const weft::key lasting({.lasting = true, .release = release});
    weft::thread under({.data = &data, .key = lasting.native_handle()}, [] {});
    EXPECT_EQ(weft_test::value_of(weft_unit_data_get, under.native_handle()), nullptr);
    void* value = nullptr;
    EXPECT_EQ(weft_unit_local_get(under.native_handle(), lasting.native_handle(), &value), WEFT_OK);
    EXPECT_EQ(value, &data);
    under.join();
    EXPECT_EQ(released, 2);
    if (!weft::has(weft::feature::migration)) return;
    weft::pool elsewhere(weft::pool_kind::shared_fifo);
    weft_test::atomic<int> moved{0};
    weft_test::atomic<bool> go{false};
    weft::thread moves(
        {.on_migration = [](weft_unit*, void* count) { static_cast<weft_test::atomic<int>*>(count)->fetch_add(1); },
         .on_migration_argument = &moved},
        [&go] {
            while (!go) weft::this_thread::yield();
        });
    moves.ref().migrate_to(elsewhere);
    const weft::stream runs(elsewhere);
    while (moved == 0) weft::this_thread::yield();
    go = true;
    moves.join();
    EXPECT_EQ(moved, 1);
}

TEST_P(CppThread, ARevivedUnitRunsAnotherBody) {
    weft_unit* unit = nullptr;
    static weft_test::atomic<int> lives;
    lives = 0;
    const auto body = [](void*) { lives.fetch_add(1); };
    weft::check(weft_ult_spawn(nullptr, body, nullptr, nullptr, &unit));
    weft::check(weft_unit_join(unit));
    const weft::unit_ref ref = unit;
    EXPECT_EQ(ref.outcome(), weft::unit_outcome::returned);
    ref.revive(body, nullptr);
    if (GetParam() == 1) {
        EXPECT_EQ(code_of([&] { static_cast<void>(ref.outcome()); }), WEFT_BUSY);
    }
    weft::check(weft_unit_join_free(unit));
    EXPECT_EQ(lives, 2);
}

TEST_P(CppThread, TheClosureIsDestroyedOnceWhenTheSpawnIsRefused) {
    weft_test::atomic<int> ends{0};
    std::byte tiny[16];
    EXPECT_EQ(code_of([&] { weft::thread thread({.stack = tiny}, [kept = Tracked(ends)] {}); }), WEFT_INVALID);
    EXPECT_EQ(ends, 1);
}

TEST_P(CppThread, TheClosureIsDestroyedOnceWhenThereIsNoMemoryForAStack) {
    if constexpr (!weft::config::checked) GTEST_SKIP() << "only checked builds can let a mapping fail";
    weft_test::atomic<int> ends{0};
    bool ran = false;
    weft::os::fault_hook = [](weft::os::Seam seam) { return seam == weft::os::Seam::map; };
    // A size that no stack had before, so that no idle stack fits.
    const weft::attributes wanted{.kind = weft::unit_kind::lsa, .stack_bytes = 3 << 20};
    const weft_status code = code_of([&] {
        weft::thread thread(wanted, [&ran, kept = Tracked(ends)] { ran = true; });
        thread.join();
    });
    weft::os::fault_hook = nullptr;
    EXPECT_EQ(code, WEFT_NOT_RETURNED);
    EXPECT_FALSE(ran);
    EXPECT_EQ(ends, 1);
}

TEST_P(CppThread, ExitUnwindsAndRunsDestructors) {
    weft_test::atomic<int> ends{0};
    weft_test::atomic<bool> beyond{false};
    weft::thread thread([&] {
        const Tracked kept(ends);
        try {
            weft::this_thread::exit();
        } catch (const std::exception&) {
            beyond = true;   // it is none of the standard exceptions
        }
        beyond = true;
    });
    EXPECT_NO_THROW(thread.join());
    EXPECT_EQ(ends, 1);
    EXPECT_FALSE(beyond);
}

TEST_P(CppThread, TheKindIsAsAsked) {
    using kinds = weft::unit_kind;
    for (const auto kind : {kinds::full, kinds::lsa, kinds::roc, kinds::ss, kinds::sc, kinds::rtc}) {
        weft::thread thread({.kind = kind}, [] {});
        EXPECT_EQ(thread.ref().kind(), kind);
    }
    weft::tasklet tasklet([] {});
    EXPECT_EQ(tasklet.ref().kind(), weft::unit_kind::tasklet);
}

TEST_P(CppThread, TheStackIsAsLargeAsAsked) {
    std::size_t bytes = 0;
    weft::thread({.stack_bytes = 256 * 1024}, [&bytes] {
        bytes = weft::this_thread::self().stack().bytes.size();
    }).join();
    EXPECT_GE(bytes, 256U * 1024);
}

TEST_P(CppThread, AThreadRunsOnTheStackItIsGiven) {
    std::vector<std::byte> memory(128 * 1024);
    const void* local = nullptr;
    weft::thread({.stack = memory}, [&local] {
        int here = 0;
        weft::this_thread::yield();
        local = &here;
    }).join();
    // Under ASan a local may lie on a fake stack; there, what the unit reports about its stack
    // counts.
    const auto* const begin = memory.data();
    const auto* const end = begin + memory.size();
    std::span<std::byte> said;
    weft::thread({.stack = memory}, [&said] { said = weft::this_thread::self().stack().bytes; }).join();
    EXPECT_GE(said.data(), begin);
    EXPECT_LE(said.data() + said.size(), end);
#if !defined(__SANITIZE_ADDRESS__)
    EXPECT_GE(local, static_cast<const void*>(begin));
    EXPECT_LT(local, static_cast<const void*>(end));
#endif
}

TEST_P(CppThread, AChildThatGoesFirstHasRunWhenTheConstructorReturns) {
    weft_test::atomic<int> turn{0};
    int child_was = 0, parent_was = 0;
    weft::thread spawner([&] {
        weft::thread child({.child_first = true}, [&] { child_was = ++turn; });
        parent_was = ++turn;
        child.join();
    });
    spawner.join();
    EXPECT_EQ(child_was + parent_was, 3);
    // With several streams, another one may have resumed the parent while the child ran.
    if (GetParam() == 1) {
        EXPECT_EQ(child_was, 1);
    }
}

TEST_P(CppThread, ATaskletRunsAndCannotWait) {
    weft_status yielded = WEFT_OK;
    weft_status suspended = WEFT_OK;
    weft::tasklet tasklet([&] {
        yielded = code_of([] { weft::this_thread::yield(); });
        suspended = code_of([] { weft::this_thread::suspend(); });
    });
    tasklet.join();
    EXPECT_EQ(yielded, WEFT_WRONG_KIND);
    EXPECT_EQ(suspended, WEFT_WRONG_KIND);
}

TEST_P(CppThread, ATaskletMayExitAndThrow) {
    weft::tasklet exits([] { weft::this_thread::exit(); });
    EXPECT_NO_THROW(exits.join());
    weft::tasklet throws([](int value) { throw value; }, 5);
    EXPECT_THROW(throws.join(), int);
}

TEST_P(CppThread, ThereIsAtLeastOneHart) {
    EXPECT_GE(weft::thread::hardware_concurrency(), 1U);
    EXPECT_EQ(weft::thread::hardware_concurrency(), weft::hart_limit());
}

TEST_P(CppThread, SpawningWithoutARuntimeThrows) {
    runtime_.finalize();
    EXPECT_EQ(code_of([] { weft::thread thread([] {}); }), WEFT_NOT_INITIALIZED);
    EXPECT_FALSE(weft::runtime::running());
}

static_assert(!std::is_copy_constructible_v<weft::thread>);
static_assert(!std::is_copy_assignable_v<weft::thread>);
static_assert(std::is_nothrow_move_constructible_v<weft::thread>);
static_assert(std::is_nothrow_move_assignable_v<weft::thread>);
static_assert(!std::is_constructible_v<weft::thread, void (*)(int)>, "the callable lacks its argument");
static_assert(!std::is_convertible_v<void (*)(), weft::thread>, "spawning is explicit");

}   // namespace
