// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The main function of every test program: GoogleTest's, with death tests that start a fresh
// process, because the runtime's OS threads do not survive a bare fork.
#include <gtest/gtest.h>

int main(int count, char** arguments) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");   // an argument may still choose otherwise
    testing::InitGoogleTest(&count, arguments);
    return RUN_ALL_TESTS();
}
