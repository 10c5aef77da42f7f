// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mem/overflow.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "arch/arch.hpp"
#include "base/sanitizer.hpp"
#include "mem/stack.hpp"
#include "mem/test_support.hpp"
#include "os/memory.hpp"
#include "os/stack.hpp"

namespace {

// Otherwise a sanitizer's handler, which was installed first, would end the process.
void nobody_handles() {
    std::signal(SIGSEGV, SIG_DFL);
    std::signal(SIGBUS, SIG_DFL);
}

using namespace weft::mem;
namespace os = weft::os;
namespace sanitizer = weft::sanitizer;

// No Weft thread runs during these death tests, so they may fork without starting the
// program again, which an emulated program cannot do by itself.
class ForkOnly : public testing::Environment {
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "fast"); }
};
[[maybe_unused]] testing::Environment* const fork_only = testing::AddGlobalTestEnvironment(new ForkOnly);

// ---- what the stream layer supplies, in small ---------------------------------------------------

Stack* watched = nullptr;

bool describe(std::uintptr_t code, const void* address, char* text, std::size_t bytes) {
    if (watched == nullptr || code == 0 || !in_guard(*watched, address)) return false;
    std::snprintf(text, bytes, "weft: stack overflow in ult 'deep', %zu bytes\n", watched->bytes);
    return true;
}

constexpr const char* said = "weft: stack overflow in ult 'deep', 65536 bytes";

// A context on one of Weft's stacks, and the one it came from, as the sanitizers know them.
void* back = nullptr;
void* back_fiber = nullptr;
const void* back_bottom = nullptr;
std::size_t back_bytes = 0;
void (*body)() = nullptr;

[[gnu::noinline, gnu::no_sanitize_thread]] void leave_for_good() {
    sanitizer::asan_start_switch(nullptr, back_bottom, back_bytes);
    sanitizer::fiber_switch(back_fiber);
    weft::arch::jump(back, {nullptr, nullptr});
}

[[gnu::no_sanitize_thread]] void context_main(void (*)(void*), void*) {
    sanitizer::asan_finish_switch(nullptr, &back_bottom, &back_bytes);
    body();
    leave_for_good();
}

[[gnu::noinline, gnu::no_sanitize_thread]] void run_on(Stack& stack, void (*what)()) {
    body = what;
    back_fiber = sanitizer::fiber_current();
    void* next = weft::arch::prepare(stack.top, context_main);
    void* fake = nullptr;
    sanitizer::asan_start_switch(&fake, stack.lowest, stack.bytes);
    sanitizer::fiber_switch(stack.fiber);
    weft::arch::swap(&back, next, {nullptr, nullptr});
    sanitizer::asan_finish_switch(fake, nullptr, nullptr);
}

volatile int frames = 0;

[[gnu::noinline]] int recurse(volatile char* above) {
    volatile char here[256];
    here[0] = static_cast<char>(*above + 1);
    frames = frames + 1;
    return frames < (1 << 20) ? recurse(here) + here[0] : 0;
}

void overflow() {
    volatile char start = 0;
    recurse(&start);
}

constexpr int in_a_ring = 77;

// The sanitizers have handlers of their own for faults that no other handler takes, and end the
// process by exit().
struct EndsBy {
    int signal;
    bool operator()(int status) const {
        if (test::sanitized && WIFEXITED(status)) return WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != in_a_ring;
        return WIFSIGNALED(status) && WTERMSIG(status) == signal;
    }
};

char* no_access_page() {
    return static_cast<char*>(mmap(nullptr, os::page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

[[gnu::noinline]] void touch(char* address) { *static_cast<volatile char*>(address) = 1; }

struct sigaction present(int signal) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    return action;
}

void set_handler(int signal, void (*handler)(int), int flags = 0) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(signal, &action, nullptr);
}

// ---- overflows ----------------------------------------------------------------------------------

using GuardDeathTest = testing::TestWithParam<Guard>;

TEST_P(GuardDeathTest, IsNamedAndThenTheSignalEndsTheProcess) {
    StackStore store({.guard = GetParam()});
    if (!store.usable()) GTEST_SKIP() << "this kernel has no MADV_GUARD_INSTALL";
    StackCache cache(store);
    Stack* stack = cache.take();
    auto scenario = [&] {
        AlternateStack alternate;
        alternate.enter();
        watched = stack;
        overflow_install(describe);
        run_on(*stack, overflow);
    };
    EXPECT_EXIT((nobody_handles(), scenario()), testing::KilledBySignal(SIGSEGV), said);
    cache.give(stack);
}

INSTANTIATE_TEST_SUITE_P(Overflow, GuardDeathTest, testing::Values(Guard::automatic, Guard::install, Guard::mprotect),
                         [](const auto& chosen) {
                             return std::string(chosen.param == Guard::automatic ? "automatic"
                                                : chosen.param == Guard::install ? "install"
                                                                                 : "mprotect");
                         });

TEST(Overflow, AStackThatIsDeepEnoughIsLeftAlone) {
    StackStore store({});
    StackCache cache(store);
    Stack* stack = cache.take();
    AlternateStack alternate;
    ASSERT_TRUE(alternate.enter());
    watched = stack;
    overflow_install(describe);
    frames = (1 << 20) - 50;
    run_on(*stack, overflow);
    EXPECT_EQ(frames, 1 << 20);
    overflow_remove();
    alternate.leave();
    cache.give(stack);
}

TEST(OverflowDeathTest, AFaultElsewhereEndsTheProcessWithoutOurMessage) {
    auto scenario = [] {
        overflow_install([](std::uintptr_t, const void*, char*, std::size_t) {
            std::fputs("asked\n", stderr);
            return false;
        });
        touch(no_access_page());
    };
    EXPECT_EXIT(scenario(), EndsBy{SIGSEGV}, "asked");
}

// ---- handlers that were installed before --------------------------------------------------------

char* faulty = nullptr;
int seen_signal = 0;
const void* seen_address = nullptr;
bool seen_blocked = false;

void note_and_repair(int signal) {
    seen_signal = signal;
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    seen_blocked = sigismember(&mask, SIGUSR1) == 1;
    mprotect(faulty, os::page_bytes(), PROT_READ | PROT_WRITE);
}

class Chain : public testing::Test {
protected:
    void SetUp() override {
        before_ = present(SIGSEGV);
        faulty = no_access_page();
        seen_signal = 0;
        seen_address = nullptr;
        watched = nullptr;
    }
    void TearDown() override {
        sigaction(SIGSEGV, &before_, nullptr);
        munmap(faulty, os::page_bytes());
    }
    struct sigaction before_;
};

TEST_F(Chain, AnOldStyleHandlerIsCalledUnderItsMask) {
    struct sigaction action {};
    action.sa_handler = note_and_repair;
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGSEGV, &action, nullptr);
    overflow_install(describe);
    touch(faulty);
    EXPECT_EQ(seen_signal, SIGSEGV);
    EXPECT_TRUE(seen_blocked);
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    EXPECT_FALSE(sigismember(&mask, SIGUSR1));
    overflow_remove();
    EXPECT_EQ(present(SIGSEGV).sa_handler, note_and_repair);
}

TEST_F(Chain, AHandlerWithInformationGetsIt) {
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int signal, siginfo_t* info, void*) {
        seen_address = info->si_addr;
        note_and_repair(signal);
    };
    sigaction(SIGSEGV, &action, nullptr);
    overflow_install(describe);
    touch(faulty + 100);
    EXPECT_EQ(seen_address, faulty + 100);
    overflow_remove();
}

TEST_F(Chain, OneWhoIgnoresTheSignalStillIgnoresASentOne) {
    set_handler(SIGSEGV, SIG_IGN);
    overflow_install(describe);
    raise(SIGSEGV);
    overflow_remove();
    EXPECT_EQ(present(SIGSEGV).sa_handler, SIG_IGN);
}

TEST(ChainDeathTest, IgnoringDoesNotHelpAgainstARealFault) {
    auto scenario = [] {
        set_handler(SIGSEGV, SIG_IGN);
        overflow_install(describe);
        touch(no_access_page());
    };
    EXPECT_EXIT(scenario(), EndsBy{SIGSEGV}, "");
}

TEST(ChainDeathTest, ASentSignalHasItsDefault) {
    for (int signal : {SIGSEGV, SIGBUS}) {
        auto scenario = [signal] {
            set_handler(signal, SIG_DFL);
            overflow_install([](std::uintptr_t, const void*, char*, std::size_t) {
                std::fputs("asked about a sent signal\n", stderr);
                std::_Exit(0);
                return false;
            });
            raise(signal);
            std::_Exit(0);
        };
        EXPECT_EXIT(scenario(), testing::KilledBySignal(signal), "");
    }
}

TEST(ChainDeathTest, AHandlerForOneTimeIsCalledOnce) {
    auto scenario = [] {
        set_handler(
            SIGSEGV, [](int) { std::fputs("once.", stderr); }, static_cast<int>(SA_RESETHAND));
        overflow_install(describe);
        touch(no_access_page());   // the handler repairs nothing: the fault is raised again
    };
    EXPECT_EXIT(scenario(), EndsBy{SIGSEGV}, "^once\\.([^o]|o[^n]|$)");
}

TEST_F(Chain, RemovingLeavesWhoeverCameLater) {
    overflow_install(describe);
    set_handler(SIGSEGV, note_and_repair);
    overflow_remove();
    EXPECT_EQ(present(SIGSEGV).sa_handler, note_and_repair);
}

struct sigaction below {};

void pass_on(int signal, siginfo_t* info, void* context) {
    if (++seen_signal > 3) std::_Exit(in_a_ring);
    below.sa_sigaction(signal, info, context);
}

void install_below_another() {
    overflow_install(describe);
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    action.sa_sigaction = pass_on;
    sigaction(SIGSEGV, &action, &below);   // calls Weft's handler
    overflow_remove();
    overflow_install(describe);   // must not make Weft's handler call pass_on
}

TEST(ChainDeathTest, InstallingAnewBelowWhoeverCameLaterMakesNoRing) {
    auto scenario = [] {
        install_below_another();
        touch(no_access_page());
    };
    EXPECT_EXIT(scenario(), EndsBy{SIGSEGV}, "");
}

TEST(ChainDeathTest, InstallingAnewBelowWhoeverCameLaterWorks) {
    auto scenario = [] {
        install_below_another();
        StackStore store({});
        StackCache cache(store);
        watched = cache.take();
        touch(watched->lowest - 1);
    };
    EXPECT_EXIT((nobody_handles(), scenario()), testing::KilledBySignal(SIGSEGV), said);
}

// ---- crashes ------------------------------------------------------------------------------------

bool explain(int signal, std::uintptr_t code, const void* address, char* text, std::size_t bytes) {
    const auto function = reinterpret_cast<std::uintptr_t>(touch);
    const bool in_touch = code - function < 512;   // checks of sanitizers included
    std::snprintf(text, bytes, "explained %d %d %d.", signal, in_touch, address == faulty);
    return true;
}

void fault_explained() {
    faulty = no_access_page();
    overflow_install(describe, explain);
    touch(faulty);
}

void install(void (*handler)(int)) { set_handler(SIGSEGV, handler); }

TEST(CrashDeathTest, IsExplainedWhereNobodyHandlesIt) {
    EXPECT_EXIT((nobody_handles(), fault_explained()), testing::KilledBySignal(SIGSEGV), "^explained 11 1 1\\.$");
}

TEST(CrashDeathTest, IsNotExplainedWhereAHandlerEndsTheProcess) {
    EXPECT_EXIT((install([](int) { std::_Exit(3); }), fault_explained()), testing::ExitedWithCode(3), "^$");
}

TEST(CrashDeathTest, IsExplainedBehindAHandlerThatLeavesTheEndToTheKernel) {
    const auto gives_up = [](int signal) {
        std::fputs("gave up.", stderr);
        std::signal(signal, SIG_DFL);
    };
    EXPECT_EXIT((install(gives_up), fault_explained()), testing::KilledBySignal(SIGSEGV),
                "^gave up\\.explained 11 1 1\\.$");
}

TEST(CrashDeathTest, AnOverflowIsNotExplainedAsACrashToo) {
    const auto scenario = [] {
        nobody_handles();
        overflow_install([](std::uintptr_t, const void*, char* text,
                            std::size_t bytes) { return std::snprintf(text, bytes, "overflow.") > 0; },
                         explain);
        touch(no_access_page());
    };
    EXPECT_EXIT(scenario(), testing::KilledBySignal(SIGSEGV), "^overflow\\.$");
}

TEST(CrashDeathTest, ASignalThatIsSentIsNone) {
    const auto scenario = [] {
        nobody_handles();
        overflow_install(describe, explain);
        raise(SIGSEGV);
    };
    EXPECT_EXIT(scenario(), testing::KilledBySignal(SIGSEGV), "^$");
}

TEST_F(Chain, AHandlerThatRepairsTheFaultIsNotExplained) {
    install(note_and_repair);
    overflow_install(describe, [](int, std::uintptr_t, const void*, char*, std::size_t) {
        std::_Exit(4);
        return false;
    });
    touch(faulty);
    EXPECT_EQ(seen_signal, SIGSEGV);
    overflow_remove();
}

TEST(Crash, SigillIsHandledOnlyWhereCrashesAreExplainedAndNobodyElseDoes) {
    set_handler(SIGILL, note_and_repair);
    overflow_install(describe, explain);
    EXPECT_EQ(present(SIGILL).sa_handler, note_and_repair);
    overflow_remove();
    set_handler(SIGILL, SIG_DFL);
    const struct sigaction before = present(SIGILL);
    overflow_install(describe);
    EXPECT_EQ(present(SIGILL).sa_sigaction, before.sa_sigaction);
    overflow_remove();
    overflow_install(describe, explain);
    EXPECT_NE(present(SIGILL).sa_sigaction, before.sa_sigaction);
    overflow_remove();
    EXPECT_EQ(present(SIGILL).sa_sigaction, before.sa_sigaction);
}

// ---- alternate stacks ---------------------------------------------------------------------------

stack_t signal_stack() {
    stack_t now{};
    sigaltstack(nullptr, &now);
    return now;
}

TEST(AlternateStack, IsTheThreadsWhileItIsEntered) {
    std::thread([] {
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        const stack_t before = signal_stack();
        sigaltstack(&none, nullptr);   // the sanitizers give every thread one
        AlternateStack alternate;
        ASSERT_TRUE(alternate.enter());
        const stack_t during = signal_stack();
        EXPECT_FALSE(during.ss_flags & SS_DISABLE);
        EXPECT_GE(during.ss_size, os::signal_frame_bytes() + (16 << 10));
        EXPECT_TRUE(test::mappings(during.ss_sp).holds);
        alternate.leave();
        EXPECT_TRUE(signal_stack().ss_flags & SS_DISABLE);
        EXPECT_FALSE(test::mappings(during.ss_sp).holds);
        sigaltstack(&before, nullptr);
    }).join();
}

TEST(AlternateStack, OneThatIsThereAlreadyStays) {
    std::thread([] {
        const stack_t before = signal_stack();
        stack_t own{};
        own.ss_size = 64 << 10;
        own.ss_sp = os::map(own.ss_size);
        sigaltstack(&own, nullptr);
        {
            AlternateStack alternate;
            ASSERT_TRUE(alternate.enter());
            EXPECT_EQ(signal_stack().ss_sp, own.ss_sp);
            alternate.leave();
            EXPECT_EQ(signal_stack().ss_sp, own.ss_sp);
        }
        sigaltstack(&before, nullptr);
        os::unmap(own.ss_sp, own.ss_size);
    }).join();
}

TEST(AlternateStack, NoMemoryIsSaid) {
    if (!weft::config::checked) GTEST_SKIP() << "needs the fault hook of a checked build";
    test::Faults faults;
    faults.fail_all(os::Seam::map);
    AlternateStack alternate;
    EXPECT_FALSE(alternate.enter());
    alternate.leave();
}

}   // namespace
