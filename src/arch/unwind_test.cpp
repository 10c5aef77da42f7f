// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unwinding on a context's own stack: C++ exceptions, and backtraces that end at its entry.
#include <gtest/gtest.h>

#include <cxxabi.h>
#include <execinfo.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "arch/testing.hpp"

namespace weft::arch {
namespace {

using testing::Coroutine;
using testing::ReturnPoint;

// What the C++ run-time library keeps for each OS thread (Itanium C++ ABI, 2.2.2). Code that
// switches inside a catch block, or in a destructor that an exception runs, saves and restores it
// by hand.
struct ExceptionState {
    void* caught;
    unsigned int uncaught;
};

ExceptionState& exception_state() { return *reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals()); }

void leave_with_own_exceptions(Coroutine& self) {
    const ExceptionState mine = exception_state();
    exception_state() = {};
    self.leave();
    exception_state() = mine;
}

// ---- exceptions ---------------------------------------------------------------------------------

struct Counted {
    int& alive;
    explicit Counted(int& count) : alive(count) { ++alive; }
    ~Counted() { --alive; }
};

[[gnu::noinline]] void throw_from_below(int depth, int& alive) {
    Counted counted(alive);
    if (depth == 0) throw std::runtime_error("from below");
    throw_from_below(depth - 1, alive);
    asm volatile("");   // no tail call
}

TEST(Exception, IsCaughtInsideAContextAndDestroysWhatItPasses) {
    ReturnPoint home = testing::this_thread();
    int alive = 0;
    std::string caught;
    Coroutine coroutine([&](Coroutine&, Message) {
        try {
            throw_from_below(20, alive);
        } catch (const std::runtime_error& error) {
            caught = error.what();
        }
    });
    coroutine.resume(home);
    EXPECT_TRUE(coroutine.done());
    EXPECT_EQ(caught, "from below");
    EXPECT_EQ(alive, 0);
}

TEST(Exception, MayBeThrownWhileAnotherIsHandledAndBothCanBeRethrown) {
    ReturnPoint home = testing::this_thread();
    std::string story;
    Coroutine coroutine([&](Coroutine& self, Message) {
        try {
            try {
                throw std::string("outer");
            } catch (const std::string& outer) {
                leave_with_own_exceptions(self);
                try {
                    throw std::logic_error("inner");
                } catch (const std::logic_error& inner) {
                    leave_with_own_exceptions(self);
                    story += inner.what();
                    story += ' ';
                }
                story += outer + ' ';
                throw;
            }
        } catch (const std::string& again) {
            story += again;
        }
    });
    while (!coroutine.done()) coroutine.resume(home);
    EXPECT_EQ(story, "inner outer outer");
}

TEST(Exception, EachOfManyContextsGetsItsOwnBackAfterSwitchesInsideCatch) {
    constexpr int contexts = 8, rounds = 50;
    ReturnPoint home = testing::this_thread();
    std::vector<std::unique_ptr<Coroutine>> all;
    int right = 0;
    for (int mine = 0; mine < contexts; ++mine) {
        all.push_back(std::make_unique<Coroutine>([&right, mine](Coroutine& self, Message) {
            for (int round = 0; round < rounds; ++round) {
                const int thrown = mine * rounds + round;
                try {
                    try {
                        throw thrown;
                    } catch (...) {
                        leave_with_own_exceptions(self);
                        throw;
                    }
                } catch (int caught) {
                    right += caught == thrown;
                }
            }
        }));
    }
    for (int round = 0; round <= rounds; ++round) {
        for (auto& coroutine : all) coroutine->resume(home);
    }
    EXPECT_EQ(right, contexts * rounds);
    EXPECT_EQ(std::current_exception(), nullptr);
}

struct LeavesInDestructor {
    Coroutine& self;
    int& in_flight;
    ~LeavesInDestructor() {
        leave_with_own_exceptions(self);
        in_flight = std::uncaught_exceptions();
    }
};

TEST(Exception, InFlightOnOneContextIsUnknownToTheOthersAndArrives) {
    ReturnPoint home = testing::this_thread();
    int in_flight = -1, seen_outside = -1, caught = 0;
    Coroutine thrower([&](Coroutine& self, Message) {
        try {
            LeavesInDestructor leaves{self, in_flight};
            throw 17;
        } catch (int value) {
            caught = value;
        }
    });
    Coroutine other([&](Coroutine&, Message) {
        try {
            throw std::runtime_error("of another context");
        } catch (const std::runtime_error&) {
            seen_outside = std::uncaught_exceptions();
        }
    });
    thrower.resume(home);
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    other.resume(home);
    EXPECT_EQ(seen_outside, 0);
    thrower.resume(home);
    EXPECT_EQ(in_flight, 1);
    EXPECT_EQ(caught, 17);
    EXPECT_TRUE(thrower.done());
}

TEST(ExceptionDeathTest, ThatNobodyCatchesEndsInTerminateAtTheEntry) {
    GTEST_FLAG_SET(death_test_style, "fast");   // no other thread runs; an emulated program cannot start itself again
    EXPECT_DEATH(
        {
            std::set_terminate([] {
                static const char text[] = "reached terminate\n";
                (void)!write(2, text, sizeof(text) - 1);
                std::_Exit(3);
            });
            ReturnPoint home = testing::this_thread();
            Coroutine coroutine([](Coroutine&, Message) { throw 1; });
            coroutine.resume(home);
        },
        "reached terminate");
}

// ---- backtraces ---------------------------------------------------------------------------------

struct Trace {
    std::vector<void*> functions;   // their starts, innermost first
    _Unwind_Reason_Code end = _URC_NO_REASON;
};

_Unwind_Reason_Code one_frame(_Unwind_Context* frame, void* raw) {
    auto& trace = *static_cast<Trace*>(raw);
    if (_Unwind_GetIP(frame) == 0) return _URC_NO_REASON;   // libgcc reports the end of the stack as a frame
    trace.functions.push_back(reinterpret_cast<void*>(_Unwind_GetRegionStart(frame)));
    return trace.functions.size() < 100 ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

[[gnu::noinline]] void take_trace(Trace& trace) { trace.end = _Unwind_Backtrace(one_frame, &trace); }

// Recursion goes through this pointer, so that no copy of the function for a given depth is made.
void (*volatile trace_further)(int depth, Trace& trace);

[[gnu::noinline]] void trace_from_below(int depth, Trace& trace) {
    if (depth == 0) {
        take_trace(trace);
    } else {
        trace_further(depth - 1, trace);
    }
    asm volatile("");   // no tail call
}

void* address(auto* function) { return reinterpret_cast<void*>(function); }

void expect_clean(const Trace& trace, int recursion) {
    EXPECT_EQ(trace.end, _URC_END_OF_STACK);
    ASSERT_FALSE(trace.functions.empty());
    EXPECT_EQ(trace.functions.back(), address(weft_context_entry));
    EXPECT_EQ(std::count(trace.functions.begin(), trace.functions.end(), address(trace_from_below)), recursion);
    EXPECT_EQ(std::count(trace.functions.begin(), trace.functions.end(), nullptr), 0);
    EXPECT_LT(trace.functions.size(), 60u);
}

TEST(Backtrace, FromInsideAContextEndsAtItsEntry) {
    ReturnPoint home = testing::this_thread();
    Trace first, later, elsewhere;
    trace_further = trace_from_below;
    Coroutine coroutine([&](Coroutine& self, Message) {
        trace_further(5, first);
        self.leave();
        trace_further(7, later);   // after the context has been away, too
    });
    coroutine.resume(home);
    trace_further(3, elsewhere);
    coroutine.resume(home);
    expect_clean(first, 6);
    expect_clean(later, 8);
    EXPECT_EQ(std::count(elsewhere.functions.begin(), elsewhere.functions.end(), address(weft_context_entry)), 0);
}

ReturnPoint* bare_home;
ReturnPoint bare;
Trace bare_trace;

void bare_main(void (*)(void*), void*) {
    testing::arrived(bare);
    take_trace(bare_trace);
    testing::go(bare, *bare_home, {});
    std::abort();
}

TEST(Backtrace, HasTheMainFunctionJustAboveTheEntryAndNothingBeyond) {
    alignas(16) static char stack[128 * 1024];
    std::fill(std::begin(stack), std::end(stack), '\x5a');   // the bytes above the entry's frame are no address
    ReturnPoint home = testing::this_thread();
    bare_home = &home;
    bare.lowest = stack;
    bare.bytes = sizeof(stack) - 64;
    bare.fiber = sanitizer::fiber_create();
    bare.saved = prepare(stack + bare.bytes, bare_main);
    testing::go(home, bare, {});
    const auto& functions = bare_trace.functions;
    EXPECT_EQ(bare_trace.end, _URC_END_OF_STACK);
    ASSERT_GE(functions.size(), 3u);
    EXPECT_EQ(functions[functions.size() - 1], address(weft_context_entry));
    EXPECT_EQ(functions[functions.size() - 2], address(bare_main));
    EXPECT_EQ(functions[functions.size() - 3], address(take_trace));
    sanitizer::fiber_destroy(bare.fiber);
}

TEST(Backtrace, OfTheCLibraryEndsThereToo) {
    ReturnPoint home = testing::this_thread();
    void* frames[100];
    int count = -1;
    Coroutine coroutine([&](Coroutine&, Message) { count = backtrace(frames, 100); });
    coroutine.resume(home);
    ASSERT_GT(count, 3);
    ASSERT_LT(count, 60);
    // The return address, which lies inside the entry.
    EXPECT_EQ(_Unwind_FindEnclosingFunction(static_cast<char*>(frames[count - 1]) - 1), address(weft_context_entry));
}

}   // namespace
}   // namespace weft::arch
