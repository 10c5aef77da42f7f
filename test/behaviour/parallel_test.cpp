// Lazy fork-join: weft::invoke and weft_invoke.
#include <weft/parallel.hpp>

#include <stdexcept>
#include <string>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/support.hpp"

using namespace weft_test;

namespace {

long fib(int n) {
    if (n < 2) return n;
    long a, b;
    weft::invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
    return a + b;
}

std::uint64_t created() { return counter("/units/count/created"); }

}  // namespace

TEST(Invoke, CallsTheSecondBranchInPlaceWhereNobodyTakesIt) {
    Runtime runtime;
    const std::uint64_t before = created();
    int order = 0;
    weft_unit* const self = weft_unit_self();
    weft::invoke([&] { EXPECT_EQ(order++, 0); EXPECT_EQ(weft_unit_self(), self); }, [&] { EXPECT_EQ(order++, 1); EXPECT_EQ(weft_unit_self(), self); });
    EXPECT_EQ(order, 2);
    EXPECT_EQ(fib(20), 6765);
    EXPECT_EQ(created(), before);
}

TEST(Invoke, SpreadsOverTwoStreams) {
    Runtime runtime(2);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(fib(24), 46368);
}
