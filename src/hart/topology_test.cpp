// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What hwloc says of this machine, compared with what the kernel says.
#include "hart/topology.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "hart/quota.hpp"

namespace weft::hart {
namespace {

// Whether the loader can find the library, tried by the test itself.
bool installed() {
    void* library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) dlclose(library);
    return library != nullptr;
}

bool loaded() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find("libhwloc") != std::string::npos) return true;
    }
    return false;
}

// The number in a file of /sys; -1: no such file.
long read_number(const std::string& path) {
    long value = -1;
    std::ifstream(path) >> value;
    return value;
}

std::string cpu_folder(unsigned cpu) { return "/sys/devices/system/cpu/cpu" + std::to_string(cpu); }

class Topology : public testing::Test {
protected:
    void SetUp() override {
        Position found;
        if (!installed()) {
            EXPECT_EQ(place(0, found), Answer::unsupported);
            GTEST_SKIP() << "hwloc is not installed for this processor";
        }
    }
    void TearDown() override { topology_release(); }
};

TEST_F(Topology, EveryHartHasACpuOfItsOwnInTheOrderOfTheMask) {
    const os::CpuSet cpus = process_cpus();
    for (std::size_t hart = 0; hart < cpus.count(); ++hart) {
        Position found;
        ASSERT_EQ(place(hart, found), Answer::ok) << hart;
        EXPECT_EQ(found.cpu, cpus.at(hart)) << hart;
    }
}

TEST_F(Topology, HartsShareACoreAndAPackageAsTheKernelSaysTheyDo) {
    const std::size_t harts = process_cpus().count();
    for (std::size_t one = 0; one < harts; ++one) {
        for (std::size_t other = one + 1; other < harts && other < one + 20; ++other) {
            Position a, b;
            ASSERT_EQ(place(one, a), Answer::ok);
            ASSERT_EQ(place(other, b), Answer::ok);
            const std::string a_folder = cpu_folder(a.cpu) + "/topology/", b_folder = cpu_folder(b.cpu) + "/topology/";
            const long a_package = read_number(a_folder + "physical_package_id");
            if (a_package < 0) GTEST_SKIP() << "the kernel does not tell packages";
            const bool one_package = a_package == read_number(b_folder + "physical_package_id");
            const bool one_core = one_package &&
                                  read_number(a_folder + "core_id") == read_number(b_folder + "core_id") &&
                                  read_number(a_folder + "die_id") == read_number(b_folder + "die_id");
            EXPECT_EQ(a.package == b.package, one_package) << a.cpu << ' ' << b.cpu;
            EXPECT_EQ(a.core == b.core, one_core) << a.cpu << ' ' << b.cpu;
        }
    }
}

TEST_F(Topology, HartsLieAtTheNumaNodeWhereTheKernelListsThem) {
    std::set<unsigned> nodes;
    for (std::size_t hart = 0; hart < process_cpus().count(); ++hart) {
        Position found;
        ASSERT_EQ(place(hart, found), Answer::ok);
        const std::string folder = "/sys/devices/system/node/node" + std::to_string(found.numa);
        std::string list;
        if (!std::getline(std::ifstream(folder + "/cpulist"), list))
            GTEST_SKIP() << "the kernel does not list NUMA nodes";
        os::CpuSet of_node;
        ASSERT_TRUE(of_node.parse(list.c_str())) << list;
        EXPECT_TRUE(of_node.has(found.cpu)) << found.cpu << " in " << list;
        os::CpuSet ours;
        ASSERT_EQ(numa_cpus(found.numa, ours), Answer::ok);
        EXPECT_EQ(ours, of_node & process_cpus());
        nodes.insert(found.numa);
    }
    std::size_t count = 0;
    ASSERT_EQ(numa_count(count), Answer::ok);
    EXPECT_EQ(count, nodes.size());
}

TEST_F(Topology, ANumberBeyondTheLastIsNoSuch) {
    Position untouched{.cpu = 77};
    EXPECT_EQ(place(process_cpus().count(), untouched), Answer::no_such);
    EXPECT_EQ(place(os::CpuSet::limit, untouched), Answer::no_such);
    EXPECT_EQ(untouched.cpu, 77u);
    os::CpuSet cpus;
    cpus.add(3);
    EXPECT_EQ(numa_cpus(54'321, cpus), Answer::no_such);
    EXPECT_EQ(cpus.text(), "3");
}

TEST_F(Topology, IsLoadedByTheFirstQuestionAndGivenBackOnRequest) {
    topology_release();
    ASSERT_FALSE(loaded());
    limit_anew();
    Position found;
    EXPECT_EQ(place(process_cpus().count(), found), Answer::no_such);   // answered from the mask alone
    EXPECT_FALSE(loaded());
    EXPECT_EQ(place(0, found), Answer::ok);
    EXPECT_TRUE(loaded());
    topology_release();
    EXPECT_FALSE(loaded());
    EXPECT_EQ(place(0, found), Answer::ok);
}

TEST_F(Topology, MayBeAskedForByManyThreadsAtOnce) {
    std::vector<Position> places(4);
    std::vector<Answer> answers(4, Answer::no_memory);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < places.size(); ++i) {
        threads.emplace_back([&, i] { answers[i] = place(0, places[i]); });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < places.size(); ++i) {
        EXPECT_EQ(answers[i], Answer::ok);
        EXPECT_EQ(places[i].cpu, process_cpus().at(0));
    }
}

TEST_F(Topology, OfAnotherMachineIsUnsupportedRatherThanWrong) {
    setenv("HWLOC_SYNTHETIC", "pack:2 core:4 pu:2", 1);
    Position found;
    EXPECT_EQ(place(0, found), Answer::unsupported);
    unsetenv("HWLOC_SYNTHETIC");
    EXPECT_EQ(place(0, found), Answer::unsupported);   // not tried again, because that may cost milliseconds each time
    topology_release();
    EXPECT_EQ(place(0, found), Answer::ok);
}

}   // namespace
}   // namespace weft::hart
