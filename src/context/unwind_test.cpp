// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The frames found for a context that does not run are its real ones; and a stack copy with
// arbitrary content leads to some frames or none, but to no fault.
#include "context/unwind.hpp"

#include <gtest/gtest.h>

#include <alloca.h>
#include <unwind.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "arch/testing.hpp"
#include "base/random.hpp"
#include "os/safe_read.hpp"

namespace weft::context {
namespace {

using arch::testing::Coroutine;
using arch::testing::ReturnPoint;
using Functions = std::vector<const void*>;   // their beginnings, innermost first

// The functions that a C++ exception would unwind from here on.
[[gnu::noinline]] Functions seen_by_exceptions() {
    Functions found;
    _Unwind_Backtrace(
        [](_Unwind_Context* frame, void* raw) {
            if (_Unwind_GetIP(frame) != 0)
                static_cast<Functions*>(raw)->push_back(reinterpret_cast<void*>(_Unwind_GetRegionStart(frame)));
            return _URC_NO_REASON;
        },
        &found);
    return found;
}

struct Standing {
    Coroutine& self;
    Functions seen;

    // Takes both traces from one function, which is the first that they have in common.
    [[gnu::noinline]] void stand() {
        seen = seen_by_exceptions();
        self.leave();
        asm volatile("");   // no tail call
    }
};

// Frames of all shapes: called through this pointer, so that none is inlined.
void (*volatile next_shape)(Standing& by, int depth);

void plain(Standing& by, int depth) {
    if (depth == 0) {
        by.stand();
    } else {
        next_shape(by, depth - 1);
    }
    asm volatile("");   // no tail call
}
// Only expressions describe where its frame ends: it aligns its stack, and grows it.
void aligned(Standing& by, int depth) {
    alignas(128) volatile char kept[256] = {};
    auto* grown = static_cast<volatile char*>(alloca(static_cast<std::size_t>(depth) * 40 + 1));
    grown[0] = kept[0];
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&kept) % 128, 0u);
    next_shape = plain;
    plain(by, depth);
    EXPECT_EQ(grown[0], kept[0]);
}
void grown(Standing& by, int depth) {
    auto* more = static_cast<volatile char*>(alloca(static_cast<std::size_t>(depth) * 100 + 1));
    more[0] = 'x';
    next_shape = aligned;
    aligned(by, depth - 1);
    EXPECT_EQ(more[0], 'x');
}
void large(Standing& by, int depth) {
    volatile char much[20'000];
    much[0] = 'x';
    next_shape = grown;
    grown(by, depth);
    EXPECT_EQ(much[0], 'x');
}

// A copy of the used part of a stack.
struct Used {
    std::vector<unsigned char> bytes;
    std::uintptr_t from;

    explicit Used(const ReturnPoint& place) : from(reinterpret_cast<std::uintptr_t>(place.saved)) {
        const auto end = reinterpret_cast<std::uintptr_t>(place.lowest) + place.bytes;
        bytes.resize(end - from);
        EXPECT_EQ(os::safe_read(place.saved, bytes.data(), bytes.size()), bytes.size());
    }
    Trace trace(Unwinder& unwinder) const { return unwinder.trace(from, {from, bytes.size(), bytes.data()}); }
};

Functions functions_of(const Trace& trace) {
    Functions found;
    for (std::size_t i = 0; i < trace.count; ++i) {
        found.push_back(_Unwind_FindEnclosingFunction(reinterpret_cast<char*>(trace.frames[i]) - (i == 0 ? 0 : 1)));
    }
    return found;
}

// The common part begins with the function that called both.
void expect_same(const Functions& seen, const Functions& found) {
    ASSERT_GE(seen.size(), 3u);
    const auto from = std::find(found.begin(), found.end(), seen[1]);
    ASSERT_NE(from, found.end());
    EXPECT_EQ(Functions(seen.begin() + 1, seen.end()), Functions(from, found.end()));
}

TEST(Unwind, FindsTheFramesThatExceptionsWouldFind) {
    ReturnPoint home = arch::testing::this_thread();
    for (auto* first : {plain, aligned, grown, large}) {
        Functions seen;
        Coroutine coroutine([&](Coroutine& self, arch::Message) {
            Standing standing{self, {}};
            next_shape = plain;
            first(standing, 7);
            seen = standing.seen;
        });
        coroutine.resume(home);
        Unwinder unwinder;
        const Trace trace = Used(coroutine.place()).trace(unwinder);
        const Trace again = Used(coroutine.place()).trace(unwinder);   // by the rows that were kept
        coroutine.resume(home);
        ASSERT_TRUE(coroutine.done());
        EXPECT_EQ(trace.end, Trace::End::outermost);
        expect_same(seen, functions_of(trace));
        EXPECT_EQ(functions_of(trace).back(), reinterpret_cast<void*>(weft_context_entry));
        EXPECT_EQ(functions_of(trace), functions_of(again));
    }
}

TEST(Unwind, AContextThatHasNotStartedIsAtItsEntry) {
    Coroutine coroutine([](Coroutine&, arch::Message) {});
    Unwinder unwinder;
    const Trace trace = Used(coroutine.place()).trace(unwinder);
    EXPECT_EQ(trace.end, Trace::End::outermost);
    ASSERT_EQ(trace.count, 1u);
    EXPECT_EQ(trace.frames[0], reinterpret_cast<std::uintptr_t>(weft_context_entry));
    ReturnPoint home = arch::testing::this_thread();
    coroutine.resume(home);
}

TEST(Unwind, EndsAfterSoManyFrames) {
    ReturnPoint home = arch::testing::this_thread();
    Coroutine coroutine([&](Coroutine& self, arch::Message) {
        Standing standing{self, {}};
        next_shape = plain;
        plain(standing, static_cast<int>(Trace::most) + 10);
    });
    coroutine.resume(home);
    Unwinder unwinder;
    const Trace trace = Used(coroutine.place()).trace(unwinder);
    EXPECT_EQ(trace.end, Trace::End::full);
    EXPECT_EQ(trace.count, Trace::most);
    coroutine.resume(home);
}

TEST(Unwind, AStackThatIsCutShortLosesItsLastFramesOnly) {
    ReturnPoint home = arch::testing::this_thread();
    Coroutine coroutine([&](Coroutine& self, arch::Message) {
        Standing standing{self, {}};
        next_shape = plain;
        large(standing, 7);
    });
    coroutine.resume(home);
    Unwinder unwinder;
    const Used used(coroutine.place());
    const Trace whole = used.trace(unwinder);
    for (std::size_t bytes = 0; bytes < used.bytes.size(); bytes += 8) {
        const Trace part = unwinder.trace(used.from, {used.from, bytes, used.bytes.data()});
        ASSERT_LE(part.count, whole.count);
        // With less than the words of the context itself, it is not known where it continues.
        if (bytes >= sizeof(arch::SuspendedWords)) {
            EXPECT_TRUE(std::equal(part.frames, part.frames + part.count, whole.frames)) << bytes;
        }
    }
    coroutine.resume(home);
}

TEST(Unwind, AnythingAtAllOnAStackComesToNoFault) {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    Random random(seed);
    ReturnPoint home = arch::testing::this_thread();
    Coroutine coroutine([&](Coroutine& self, arch::Message) {
        Standing standing{self, {}};
        next_shape = plain;
        large(standing, 7);
    });
    coroutine.resume(home);
    Used used(coroutine.place());
    Unwinder unwinder;
    const Trace real = used.trace(unwinder);
    const std::vector<unsigned char> original = used.bytes;
    std::size_t frames = 0;
    for (int round = 0; round < 20'000; ++round) {
        used.bytes = original;
        const std::uint64_t changes = 1 + random.below(60);
        for (std::uint64_t i = 0; i < changes; ++i) {
            std::uintptr_t word = random.next();
            switch (random.below(4)) {
            case 0: word = real.frames[random.below(real.count)] + random.below(40); break;   // code
            case 1:
                word = used.from + 8 * random.below(used.bytes.size() / 8);
                break;   // the stack
            // code, perhaps
            case 2: word = reinterpret_cast<std::uintptr_t>(&seen_by_exceptions) - 5000 + random.below(10'000); break;
            default: break;
            }
            // More often near the top of the stack, where the context is, than elsewhere.
            const std::size_t at =
                random.below(2) == 0 ? random.below(arch::suspended_words) : random.below(used.bytes.size() / 8);
            std::memcpy(used.bytes.data() + 8 * at, &word, sizeof word);
        }
        frames += used.trace(unwinder).count;
    }
    EXPECT_GT(frames, 20'000u);
    coroutine.resume(home);
}

}   // namespace
}   // namespace weft::context
