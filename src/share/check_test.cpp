// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cstddef>

#include "process/domain_state.hpp"
#include "process/guest_state.hpp"
#include "process/shortage_state.hpp"
#include "share/carriers.hpp"
#include "share/lending.hpp"

namespace weft {
namespace {

// The checks here use nothing of the process that the object belongs to.
Process& no_process() {
    alignas(64) static std::byte memory[64];
    return reinterpret_cast<Process&>(memory);
}

TEST(ShareCheckDeathTest, AStreamThatIsCountedAndDoesNotWaitStopsTheProcess) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    Lending lending;
    lending.check_whole();
    lending.count = 1;
    EXPECT_DEATH(lending.check(), "does not hold");
}

TEST(ShareCheckDeathTest, ABusyCarrierWithoutAPoolOfRemoteCallsStopsTheProcess) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    Carriers carriers{no_process(), "test", Carriers::What::harts};
    carriers.check_whole(0, 0);
    carriers.busy = 1;
    EXPECT_DEATH(carriers.check(), "does not hold");
}

TEST(ShareCheckDeathTest, ACarrierThatLeavesMayBeCountedAndOneThatStaysMust) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    Carriers carriers{no_process(), "test", Carriers::What::guests};
    carriers.count = 1;
    carriers.check_whole(1, 0);
    carriers.check_whole(0, 1);
    carriers.check_whole(1, 1);
    EXPECT_DEATH(carriers.check_whole(2, 0), "does not hold");
    EXPECT_DEATH(carriers.check_whole(0, 0), "does not hold");
}

TEST(ShareCheckDeathTest, AGuestOutsideThatHoldsAHartStopsTheSimulator) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    Guest guest;
    guest.root.guest = true;
    guest.check_whole();
    guest.root.held = 1;
    EXPECT_DEATH(guest.check_whole(), "does not hold");
}

TEST(ShareCheckDeathTest, ADomainWithMoreHartsBelowThanItHasStopsTheSimulator) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    Domain parent(no_process(), nullptr, {}, nullptr), child(no_process(), &parent, {}, nullptr);
    parent.children = &child;
    parent.root.held = 1;
    child.harts.store(1);
    parent.check_whole(1);
    child.harts.store(2);
    EXPECT_DEATH(parent.check_whole(1), "does not hold");
}

TEST(ShareCheckDeathTest, AUnitThatIsCountedAndNotKeptStopsTheProcess) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    Shortage shortage;
    shortage.check_whole();
    shortage.count.store(1);
    EXPECT_DEATH(shortage.check(), "does not hold");
}

}   // namespace
}   // namespace weft
