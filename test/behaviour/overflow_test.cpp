// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit that needs more stack than it has: the process ends by SIGSEGV, and reports which unit it
// was.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <setjmp.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

const volatile char* limit = nullptr;   // the recursion stops below it

// Touches the stack downwards, forever or until `limit`.
[[gnu::noinline]] int dive(int depth) {
    volatile char frame[200];
    frame[0] = static_cast<char>(depth);
    frame[199] = frame[0];
    if (limit != nullptr && &frame[0] < limit) return frame[0];
    return dive(depth + 1) + frame[199];
}

void dive_without_end(void*) {
    limit = nullptr;
    std::printf("%d", dive(0));
}

// Goes just over the end, where a canary lies, and returns.
void dive_over_the_end(void*) {
    weft_stack_info info{};
    info.size = sizeof info;
    weft_unit_stack_get(weft_unit_self(), &info);
    limit = static_cast<const volatile char*>(info.lowest) + 4096;
    std::printf("%d", dive(0));
    std::memset(info.lowest, 0, 64);   // the last frames' share, to the byte
    weft_unit_yield();
}

// Starts a runtime with the given guard, and a unit that overflows. Raises SIGSEGV itself if the
// kernel has no such guard.
void program(weft_guard guard, weft_kind kind, void (*body)(void*), std::size_t rank = 0) {
    weft_settings settings = with_streams(2);
    settings.pool = WEFT_POOL_PRIVATE;
    settings.guard = guard;
    if (weft_init(&settings) != WEFT_OK) {
        std::fprintf(stderr, "%s", weft_error_text());
        raise(SIGSEGV);
    }
    auto chosen = options();
    chosen.name = "diver";
    chosen.kind = kind;
    chosen.stack_bytes = 128 << 10;
    weft_unit* unit = nullptr;
    if (weft_ult_spawn(pool_of(rank), body, nullptr, &chosen, &unit) != WEFT_OK) std::abort();
    // Two units yield, so that the overflowed unit is switched out.
    weft_ult_spawn(
        pool_of(rank), [](void*) { weft_unit_yield(); }, nullptr, nullptr, nullptr);
    weft_unit_join(unit);
}

// Otherwise a sanitizer's handler, which was installed before Weft's, would end the process.
void nobody_handles() {
    std::signal(SIGSEGV, SIG_DFL);
    std::signal(SIGBUS, SIG_DFL);
}

// What the message must name: the unit, its kind, its stack's size, and the remedy.
std::string message(const char* kind) {
    return std::string("weft: stack overflow in unit [0-9]+ 'diver' \\(kind ") + kind +
           ", stack 1[0-9]{5} bytes\\): .*WEFT_STACK_BYTES";
}

// In addition, where the access was, if a fault revealed the overflow.
std::string message_of_a_fault(const char* kind) {
    return message(kind) + "\nweft: the code at 0x[0-9a-f]+ accessed 0x[0-9a-f]+; the stack begins at 0x[0-9a-f]+\n";
}

bool has_install() {
    weft_settings settings = with_streams(1);
    settings.guard = WEFT_GUARD_INSTALL;
    if (weft_init(&settings) != WEFT_OK) return false;
    weft_finalize();
    return true;
}

}   // namespace

TEST(Overflow, IsToldWithInstalledGuards) {
    // A kernel without such guards is reported, and the program learns it from weft_init.
    const std::string expected = has_install() ? message("lsa") : std::string("WEFT_GUARD");
    EXPECT_EXIT((nobody_handles(), program(WEFT_GUARD_INSTALL, WEFT_KIND_LSA, dive_without_end)),
                testing::KilledBySignal(SIGSEGV), expected);
}

TEST(Overflow, IsToldWithProtectedGuards) {
    EXPECT_EXIT((nobody_handles(), program(WEFT_GUARD_MPROTECT, WEFT_KIND_FULL, dive_without_end)),
                testing::KilledBySignal(SIGSEGV), message_of_a_fault("full"));
}

TEST(Overflow, IsToldWithCanariesWhenTheUnitIsSwitchedOut) {
    EXPECT_EXIT((nobody_handles(), program(WEFT_GUARD_CANARY, WEFT_KIND_LSA, dive_over_the_end)),
                testing::KilledBySignal(SIGSEGV), message("lsa"));
}

TEST(Overflow, IsToldByDefaultAndOnAnyStream) {
    EXPECT_EXIT((nobody_handles(), program(WEFT_GUARD_AUTO, WEFT_KIND_FULL, dive_without_end, 0)),
                testing::KilledBySignal(SIGSEGV), message_of_a_fault("full"));
    EXPECT_EXIT((nobody_handles(), program(WEFT_GUARD_AUTO, WEFT_KIND_LSA, dive_without_end, 1)),
                testing::KilledBySignal(SIGSEGV), message("lsa"));
}

TEST(Overflow, IsToldToAHandlerThatWasThereBeforeAsWell) {
    const auto with_handler = [] {
        struct sigaction own {};
        own.sa_sigaction = [](int, siginfo_t*, void*) {
            constexpr char text[] = "the program's own";
            if (write(STDERR_FILENO, text, sizeof text) > 0) _exit(3);
        };
        own.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigaction(SIGSEGV, &own, nullptr);
        program(WEFT_GUARD_AUTO, WEFT_KIND_LSA, dive_without_end);
    };
    EXPECT_EXIT(with_handler(), testing::ExitedWithCode(3), "stack overflow in unit(.|\n)*the program's own");
}

TEST(Overflow, AUnitWithoutAnOverflowIsNotSuspected) {
    weft_settings settings = with_streams(1);
    settings.guard = WEFT_GUARD_CANARY;
    Runtime runtime(settings);
    auto chosen = options();
    chosen.stack_bytes = 128 << 10;
    int sum = 0;
    Ult deep(
        [&] {
            weft_stack_info info{};
            info.size = sizeof info;
            weft_unit_stack_get(weft_unit_self(), &info);
            limit = static_cast<const volatile char*>(info.lowest) + 16384;
            sum = dive(0);
            weft_unit_yield();
        },
        &chosen);
    EXPECT_EQ(deep.join(), WEFT_OK);
}

namespace {

sigjmp_buf back;
volatile sig_atomic_t handled = 0;

void own_handler(int, siginfo_t*, void*) {
    handled = handled + 1;
    siglongjmp(back, 1);
}

// A fault that is not Weft's: in a page of the program that may not be read.
[[gnu::noinline, gnu::no_sanitize_address, gnu::no_sanitize_thread]] bool faults() {
    static void* const page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sigsetjmp(back, 1) != 0) return true;
    (void)*static_cast<volatile char*>(page);
    return false;
}

}   // namespace

TEST(Overflow, AFaultThatIsNoneGoesToTheHandlerOfTheProgram) {
    struct sigaction action {
    }, before{};
    action.sa_sigaction = own_handler;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    ASSERT_EQ(sigaction(SIGSEGV, &action, &before), 0);
    handled = 0;
    {
        Runtime runtime;   // installs its own handler, which comes before ours in the chain
        EXPECT_TRUE(faults()) << "outside of ULTs' stacks";
        bool inside = false;
        Ult unit([&] { inside = faults(); });
        EXPECT_EQ(unit.join(), WEFT_OK);
        EXPECT_TRUE(inside);
    }
    EXPECT_EQ(handled, 2);
    EXPECT_TRUE(faults()) << "and after the end of the runtime";
    EXPECT_EQ(handled, 3);
    ASSERT_EQ(sigaction(SIGSEGV, &before, nullptr), 0);
}

TEST(Overflow, AFaultThatIsNoneEndsAProgramWithoutAHandlerInTheUsualWay) {
    auto program = [] {
        signal(SIGSEGV, SIG_DFL);
        weft_init(nullptr);
        Ult unit([] { faults(); });
        unit.join();
    };
    EXPECT_EXIT(program(), testing::KilledBySignal(SIGSEGV), "^$");
}
