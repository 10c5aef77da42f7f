// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sets of CPUs as text, and the affinity of OS threads.
#include "os/cpuset.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>
#include <thread>

#include "base/random.hpp"
#include "os/thread.hpp"

namespace weft::os {
namespace {

CpuSet set_of(std::initializer_list<std::size_t> cpus) {
    CpuSet set;
    for (const std::size_t cpu : cpus) set.add(cpu);
    return set;
}

TEST(CpuSet, IsWrittenAsTheKernelWritesIt) {
    EXPECT_EQ(CpuSet().text(), "");
    EXPECT_EQ(set_of({0}).text(), "0");
    EXPECT_EQ(set_of({0, 1}).text(), "0-1");
    EXPECT_EQ(set_of({0, 1, 2, 3, 8}).text(), "0-3,8");
    EXPECT_EQ(set_of({1, 3, 5}).text(), "1,3,5");
    EXPECT_EQ(set_of({4094, 4095}).text(), "4094-4095");
}

TEST(CpuSet, IsReadAsTheKernelWritesIt) {
    CpuSet set;
    ASSERT_TRUE(set.parse("0-3,8"));
    EXPECT_EQ(set, set_of({0, 1, 2, 3, 8}));
    ASSERT_TRUE(set.parse("7\n"));   // the previous content is gone
    EXPECT_EQ(set, set_of({7}));
    ASSERT_TRUE(set.parse("8,0-3,2"));
    EXPECT_EQ(set, set_of({0, 1, 2, 3, 8}));
    ASSERT_TRUE(set.parse("4095"));
    EXPECT_EQ(set, set_of({4095}));
    ASSERT_TRUE(set.parse("5-5"));
    EXPECT_EQ(set, set_of({5}));
}

TEST(CpuSet, ThatIsNoListIsRefusedAndChangesNothing) {
    CpuSet set = set_of({2});
    for (const char* text : {"",
                             "\n",
                             "a",
                             "3-1",
                             "1,,2",
                             "1\n2",
                             ",1",
                             "1,",
                             "1-",
                             "-1",
                             "1-2-3",
                             "1 2",
                             " 1",
                             "1 ",
                             "1;2",
                             "0x1",
                             "+1",
                             "\n1",
                             "5000",
                             "4096",
                             "0-4096",
                             "0-5000",
                             "99999999999999999999",
                             "1-99999999999999999999"}) {
        EXPECT_FALSE(set.parse(text)) << '"' << text << '"';
        EXPECT_EQ(set.text(), "2") << '"' << text << '"';
    }
}

TEST(CpuSet, WrittenAndReadAgainIsTheSame) {
    constexpr std::uint64_t seed = 11;
    Random random(seed);
    for (int round = 0; round < 100; ++round) {
        CpuSet set, again;
        for (std::uint32_t runs = 1 + random.below(20); runs-- > 0;) {
            const std::size_t first = random.below(CpuSet::limit);
            const std::size_t last = std::min<std::size_t>(CpuSet::limit - 1, first + random.below(5));
            for (std::size_t cpu = first; cpu <= last; ++cpu) set.add(cpu);
        }
        ASSERT_TRUE(again.parse(set.text().c_str())) << "seed " << seed << ": " << set.text();
        EXPECT_EQ(again, set) << "seed " << seed << ": " << set.text();
    }
}

TEST(CpuSet, CountsFromTheLowest) {
    const CpuSet set = set_of({3, 64, 4095});
    EXPECT_EQ(set.count(), 3u);
    EXPECT_EQ(set.at(0), 3u);
    EXPECT_EQ(set.at(1), 64u);
    EXPECT_EQ(set.at(2), 4095u);
    EXPECT_EQ(set.at(3), CpuSet::limit);
    EXPECT_EQ(CpuSet().at(0), CpuSet::limit);
    EXPECT_TRUE(set.has(64));
    EXPECT_FALSE(set.has(65));
    EXPECT_FALSE(set.has(CpuSet::limit));
    EXPECT_FALSE(set.has(~std::size_t{0}));
}

TEST(CpuSet, LiesWithinAnotherWhenItAddsNothing) {
    EXPECT_TRUE(set_of({1}).within(set_of({0, 1})));
    EXPECT_TRUE(CpuSet().within(set_of({0})));
    EXPECT_FALSE(set_of({1, 2}).within(set_of({0, 1})));
    EXPECT_EQ(set_of({1, 2}) & set_of({2, 3}), set_of({2}));
}

TEST(Affinity, OfTheCallingThreadIsWhatTheKernelSays) {
    CpuSet cpus;
    ASSERT_TRUE(affinity_get(0, cpus));
    cpu_set_t kernel;
    ASSERT_EQ(sched_getaffinity(0, sizeof(kernel), &kernel), 0);
    EXPECT_EQ(cpus.count(), static_cast<std::size_t>(CPU_COUNT(&kernel)));
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) EXPECT_EQ(cpus.has(cpu), CPU_ISSET(cpu, &kernel) != 0) << cpu;
}

TEST(Affinity, OfAnotherThreadIsSetByItsNumberAndInheritedByItsChildren) {
    CpuSet all, one, read;
    ASSERT_TRUE(affinity_get(0, all));
    one.add(all.at(0));
    CpuSet child;
    std::thread([&] {
        ASSERT_TRUE(affinity_set(thread_id(), one));
        ASSERT_TRUE(affinity_get(thread_id(), read));
        std::thread([&] { affinity_get(0, child); }).join();
    }).join();
    EXPECT_EQ(read, one);
    EXPECT_EQ(child, one);
    ASSERT_TRUE(affinity_get(0, read));
    EXPECT_EQ(read, all);   // the calling thread's mask is unchanged
}

TEST(Affinity, ToNoCpuOrOfNoThreadIsRefused) {
    CpuSet all, untouched = set_of({9});
    ASSERT_TRUE(affinity_get(0, all));
    EXPECT_FALSE(affinity_set(0, CpuSet()));
    EXPECT_FALSE(affinity_get(0x7fff'fff0u, untouched));
    EXPECT_EQ(untouched, set_of({9}));
    CpuSet after;
    ASSERT_TRUE(affinity_get(0, after));
    EXPECT_EQ(after, all);
}

}   // namespace
// Read with the C++ library, in ticks.
std::uint64_t idle_ticks(const CpuSet& cpus) {
    std::ifstream file("/proc/stat");
    std::uint64_t sum = 0;
    for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
        if (line[3] == ' ' || !cpus.has(static_cast<unsigned>(std::stoul(line.substr(3))))) continue;
        std::istringstream words(line);
        std::string name;
        std::uint64_t user = 0, nice = 0, system = 0, idle = 0, waits = 0;
        words >> name >> user >> nice >> system >> idle >> waits;
        sum += idle + waits;
    }
    return sum;
}

TEST(IdleTime, IsWhatTheKernelSaysOfThoseProcessors) {
    CpuSet all;
    ASSERT_TRUE(affinity_get(0, all));
    const CpuSet one = set_of({all.at(0)});
    const std::uint64_t tick_ns = 1'000'000'000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
    for (const CpuSet& cpus : {all, one}) {
        std::uint64_t ns = 0;
        const std::uint64_t before = idle_ticks(cpus);
        ASSERT_TRUE(idle_time(cpus, ns));
        EXPECT_GE(ns, before * tick_ns);
        EXPECT_LE(ns, idle_ticks(cpus) * tick_ns);
    }
    std::uint64_t ns = 0;
    EXPECT_FALSE(idle_time(CpuSet{}, ns)) << "there is none";
}

}   // namespace weft::os
