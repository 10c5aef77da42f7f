// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls every function of abt.h with each of its requests to the system refused in turn. The
// function must report the refusal, change nothing, and succeed when repeated. The library must
// keep working and finalize, and nothing may leak.
#include "refused.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

using namespace refused;

namespace {

void expect_that_it_works() {
    std::atomic<int> ran{0};
    Fresh one(abt_test::add_one, &ran), two(abt_test::add_one, &ran);
    ok(ABT_thread_free(&one.handle));
    ok(ABT_thread_free(&two.handle));
    EXPECT_EQ(ran.load(), 2);
}

// Runs the row's case in its own run of the library, so that things made once per run are made
// anew.
void run(const Row& row, Try& t) {
    if (row.bare) return row.call(t);
    ok(ABT_init(0, nullptr));
    row.call(t);
    expect_that_it_works();
    ok(ABT_finalize());
    EXPECT_EQ(ABT_initialized(), ABT_ERR_UNINITIALIZED);
}

class Refused : public testing::TestWithParam<Row> {};

TEST_P(Refused, InTurn) {
    const Row row = GetParam();
    {
        Try all_is_given(-1);
        run(row, all_is_given);
    }
    const long live = refuse::live_blocks();
    int refusals = 0, failures = 0;
    for (int number = 0;; ++number) {
        ASSERT_LT(number, 400);
        Try t(number);
        run(row, t);
        EXPECT_LE(refuse::live_blocks(), live) << "thing number " << number << ": something is lost";
        if (testing::Test::HasFailure()) FAIL() << "thing number " << number;
        if (!t.was_refused()) break;
        ++refusals;
        failures += t.has_failed() ? 1 : 0;
    }
    if (std::getenv("REFUSED_TABLE") != nullptr)
        std::printf("%-45s %d refused, %d failed\n", std::string(row.name).c_str(), refusals, failures);
    if (row.needs == Needs::nothing) {
        EXPECT_EQ(refusals, 0);
    }
    if (row.needs == Needs::memory) {
        EXPECT_GT(failures, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Of, Refused, testing::ValuesIn(Row::all().begin(), Row::all().end()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(RefusedTable, HasEveryFunctionOfTheHeaderOnce) {
    std::ifstream file(ABT_HEADER);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::regex declared("ABT_API_PUBLIC\\s+(?:int|double)\\s+(ABT_[a-z_]+)\\(");
    std::set<std::string> in_header, in_table;
    for (std::sregex_iterator at(text.begin(), text.end(), declared), none; at != none; ++at)
        in_header.insert((*at)[1]);
    for (const Row& row : Row::all())
        EXPECT_TRUE(in_table.insert(std::string(row.name)).second) << row.name << " is there twice";
    for (const std::string& name : in_header) EXPECT_EQ(in_table.count(name), 1u) << name << " is not in the table";
    for (const std::string& name : in_table)
        EXPECT_EQ(in_header.count(name), 1u) << name << " is no function of the header";
    EXPECT_GT(in_header.size(), 250u);
}

}   // namespace
