// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Execution streams run on the CPUs that the program, or ABT_SET_AFFINITY, names.
#include <sched.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "test_support.hpp"

using namespace abt_test;

namespace {

std::vector<int> cpus_of_process() {
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
    return cpus;
}

// Before the first test binds the main thread.
const std::vector<int> process = cpus_of_process();

// The CPUs that the library reports.
std::vector<int> told(ABT_xstream xstream) {
    int cpus[1024], count = -1;
    EXPECT_EQ(ABT_xstream_get_affinity(xstream, 1024, cpus, &count), ABT_SUCCESS);
    return {cpus, cpus + count};
}

// The CPUs that the kernel reports for the OS thread on which the stream runs a work unit.
std::vector<int> found(ABT_xstream xstream) {
    std::vector<int> cpus;
    ABT_thread thread = ABT_THREAD_NULL;
    EXPECT_EQ(ABT_thread_create_on_xstream(
                  xstream, [](void* to) { *static_cast<std::vector<int>*>(to) = cpus_of_process(); }, &cpus,
                  ABT_THREAD_ATTR_NULL, &thread),
              ABT_SUCCESS);
    EXPECT_EQ(ABT_thread_free(&thread), ABT_SUCCESS);
    return cpus;
}

std::string braced(int cpu) { return "{" + std::to_string(cpu) + "}"; }

using Cpus = std::vector<int>;

}   // namespace

TEST(Affinity, AStreamThatNobodyHasBoundTellsTheCpusOfItsThread) {
    if (elsewhere()) GTEST_SKIP() << "streams are bound from the beginning there";
    ABT_bool enabled = ABT_FALSE;
    Library library;
    ASSERT_EQ(ABT_info_query_config(ABT_INFO_QUERY_KIND_ENABLED_AFFINITY, &enabled), ABT_SUCCESS);
    ASSERT_EQ(enabled, ABT_TRUE);
    Streams streams(1);
    for (const ABT_xstream stream : {own_xstream(), streams[0]}) {
        EXPECT_EQ(told(stream), process);
        int cpu = -7;
        EXPECT_EQ(ABT_xstream_get_cpubind(stream, &cpu), ABT_SUCCESS);
        EXPECT_EQ(cpu, process.front());
    }
    EXPECT_EQ(found(streams[0]), process);
}

TEST(Affinity, AThreadThatTheProgramBindsItselfTellsWhatItIsBoundTo) {
    if (elsewhere()) GTEST_SKIP() << "what the library has bound it to is told there";
    Library library;
    Streams streams(1);
    ABT_thread thread = ABT_THREAD_NULL;
    const auto bind_self = [](void*) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(process.back(), &set);
        EXPECT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    };
    ASSERT_EQ(ABT_thread_create_on_xstream(streams[0], bind_self, nullptr, ABT_THREAD_ATTR_NULL, &thread), ABT_SUCCESS);
    ASSERT_EQ(ABT_thread_free(&thread), ABT_SUCCESS);
    EXPECT_EQ(told(streams[0]), Cpus{process.back()});
    ASSERT_EQ(ABT_xstream_set_affinity(streams[0], 0, nullptr), ABT_SUCCESS);
    EXPECT_EQ(told(streams[0]), process);
}

TEST(Affinity, AStreamIsBoundToOneCpu) {
    Library library;
    Streams streams(1);
    const int last = process.back();
    ASSERT_EQ(ABT_xstream_set_cpubind(streams[0], last), ABT_SUCCESS);
    int cpu = -7;
    EXPECT_EQ(ABT_xstream_get_cpubind(streams[0], &cpu), ABT_SUCCESS);
    EXPECT_EQ(cpu, last);
    EXPECT_EQ(found(streams[0]), Cpus{last});
}

TEST(Affinity, AStreamIsBoundToSeveralCpusAndToAllAgainByNone) {
    Library library;
    Streams streams(1);
    Cpus some(process.begin(), process.begin() + static_cast<long>(process.size() < 2 ? 1 : 2));
    ASSERT_EQ(ABT_xstream_set_affinity(streams[0], static_cast<int>(some.size()), some.data()), ABT_SUCCESS);
    EXPECT_EQ(told(streams[0]), some);
    EXPECT_EQ(found(streams[0]), some);
    ASSERT_EQ(ABT_xstream_set_affinity(streams[0], 0, nullptr), ABT_SUCCESS);
    EXPECT_EQ(told(streams[0]), process);
    EXPECT_EQ(found(streams[0]), process);
}

TEST(Affinity, ThePrimaryStreamIsBoundAsOthersAre) {
    Library library;
    ASSERT_EQ(ABT_xstream_set_cpubind(own_xstream(), process.back()), ABT_SUCCESS);
    EXPECT_EQ(cpus_of_process(), Cpus{process.back()});
    ASSERT_EQ(ABT_xstream_set_affinity(own_xstream(), 0, nullptr), ABT_SUCCESS);
    EXPECT_EQ(cpus_of_process(), process);
}

TEST(Affinity, AllCpusAreCountedWhereFewAreAskedFor) {
    Library library;
    Streams streams(1);
    Cpus all = process;
    ASSERT_EQ(ABT_xstream_set_affinity(streams[0], static_cast<int>(all.size()), all.data()), ABT_SUCCESS);
    int cpus[2] = {-7, -7}, count = -7;
    EXPECT_EQ(ABT_xstream_get_affinity(streams[0], 1, cpus, &count), ABT_SUCCESS);
    EXPECT_EQ(count, static_cast<int>(process.size()));
    EXPECT_EQ(cpus[0], process[0]);
    EXPECT_EQ(cpus[1], -7);
    count = -7;
    EXPECT_EQ(ABT_xstream_get_affinity(streams[0], 0, nullptr, &count), ABT_SUCCESS);
    EXPECT_EQ(count, static_cast<int>(process.size()));
    if (elsewhere()) return;   // Argobots writes a list there even if there is none
    count = -7;
    EXPECT_EQ(ABT_xstream_get_affinity(streams[0], 2, nullptr, &count), ABT_SUCCESS);
    EXPECT_EQ(count, static_cast<int>(process.size()));
    EXPECT_EQ(ABT_xstream_get_affinity(streams[0], 0, nullptr, nullptr), ABT_SUCCESS);
}

TEST(Affinity, CpusThatAreNotThereAreRefusedAndNothingChanges) {
    if (elsewhere()) GTEST_SKIP() << "there the kernel refuses them, ERR_SYS, or nobody";
    Library library;
    Streams streams(1);
    ASSERT_EQ(ABT_xstream_set_cpubind(streams[0], process[0]), ABT_SUCCESS);
    EXPECT_EQ(ABT_xstream_set_cpubind(streams[0], -1), ABT_ERR_CPUID);
    EXPECT_EQ(ABT_xstream_set_cpubind(streams[0], 4095), ABT_ERR_CPUID);
    EXPECT_EQ(ABT_xstream_set_cpubind(streams[0], 1 << 30), ABT_ERR_CPUID);
    int cpus[] = {process[0], 4095};
    EXPECT_EQ(ABT_xstream_set_affinity(streams[0], 2, cpus), ABT_ERR_CPUID);
    EXPECT_EQ(told(streams[0]), Cpus{process[0]});
}

TEST(Affinity, OfCpusThatTheProcessDoesNotHaveThoseThatItHasCount) {
    if (elsewhere()) GTEST_SKIP() << "there the kernel refuses them, ERR_SYS";
    Library library;
    Streams streams(1);
    int cpus[] = {1023, process[0]};
    EXPECT_EQ(ABT_xstream_set_affinity(streams[0], 2, cpus), ABT_SUCCESS);
    EXPECT_EQ(told(streams[0]), Cpus{process[0]});
    EXPECT_EQ(ABT_xstream_set_affinity(streams[0], 1, cpus), ABT_ERR_CPUID) << "nothing would be left";
}

TEST(Affinity, WrongArgumentsAreRefused) {
    Library library;
    int cpu = process[0], count = 0;
    EXPECT_EQ(ABT_xstream_set_cpubind(ABT_XSTREAM_NULL, cpu), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(ABT_xstream_get_cpubind(ABT_XSTREAM_NULL, &cpu), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(ABT_xstream_set_affinity(ABT_XSTREAM_NULL, 1, &cpu), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(ABT_xstream_get_affinity(ABT_XSTREAM_NULL, 1, &cpu, &count), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(ABT_xstream_set_affinity(own_xstream(), -1, &cpu), ABT_ERR_INV_ARG);
    EXPECT_EQ(ABT_xstream_get_affinity(own_xstream(), -1, &cpu, &count), ABT_ERR_INV_ARG);
}

TEST(AffinityOfTheEnvironment, BindsEachStreamToThePlaceOfItsRankAndBeginsAnewAtTheEnd) {
    const int first = process.front(), last = process.back();
    Variable places("ABT_SET_AFFINITY", braced(last) + "," + braced(first));
    Library library;
    Streams streams(2);
    EXPECT_EQ(told(own_xstream()), Cpus{last});
    EXPECT_EQ(told(streams[0]), Cpus{first});
    EXPECT_EQ(told(streams[1]), Cpus{last});
    EXPECT_EQ(found(streams[0]), Cpus{first});
    EXPECT_EQ(ABT_xstream_set_affinity(own_xstream(), 0, nullptr), ABT_SUCCESS);
}

TEST(AffinityOfTheEnvironment, IsAListOfPlacesInSeveralForms) {
    if (process.size() < 2 || process[0] != 0 || process[1] != 1)
        GTEST_SKIP() << "the process may not use CPUs 0 and 1";
    struct {
        const char* text;
        Cpus of_primary, of_second;
    } cases[] = {
        {"0,1", {0}, {1}},     {"1", {1}, {1}},     {"{1},{0,1}", {1}, {0, 1}}, {"{0:2}", {0, 1}, {0, 1}},
        {"{0:1:5}", {0}, {0}}, {"{0}:2", {0}, {1}}, {"{1}:2:-1", {1}, {0}},     {" { 0 , 1 } , 1 ", {0, 1}, {1}},
        {"0:2", {0}, {1}},
    };
    for (const auto& each : cases) {
        Variable places("ABT_SET_AFFINITY", each.text);
        Library library;
        Streams second(1);
        EXPECT_EQ(told(own_xstream()), each.of_primary) << each.text;
        EXPECT_EQ(told(second[0]), each.of_second) << each.text;
        EXPECT_EQ(ABT_xstream_set_affinity(own_xstream(), 0, nullptr), ABT_SUCCESS);
    }
}

TEST(AffinityOfTheEnvironment, IsPassedOverWithAWordWhereItCannotBeRead) {
    if (elsewhere()) GTEST_SKIP() << "nothing is said there, and streams are bound by default";
    for (const char* text :
         {"{0", "0}", "{}", "0,,1", "0,", "0 1", "core", "{0:0}", "{0:-1}", "-1", "{0:2:-1}", "99999"}) {
        Variable places("ABT_SET_AFFINITY", text);
        testing::internal::CaptureStderr();
        {
            Library library;
            Streams streams(1);
            EXPECT_EQ(told(own_xstream()), process) << text;
            EXPECT_EQ(told(streams[0]), process) << text;
        }
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_NE(said.find("ABT_SET_AFFINITY"), std::string::npos) << text;
        EXPECT_NE(said.find("'" + std::string(text) + "'"), std::string::npos) << said;
    }
}

TEST(AffinityOfTheEnvironment, ThatNamesCpusWhichAreNotThereIsPassedOverWithAWord) {
    if (elsewhere()) GTEST_SKIP() << "nothing is said there";
    Variable places("ABT_SET_AFFINITY", "{4095}");
    testing::internal::CaptureStderr();
    {
        Library library;
        EXPECT_EQ(told(own_xstream()), process);
    }
    EXPECT_NE(testing::internal::GetCapturedStderr().find("cannot be bound to place 0 of '{4095}'"), std::string::npos);
}

TEST(AffinityOfTheEnvironment, IsNoneByTheWordNo) {
    for (const char* text : {"no", "n", "OFF", "false"}) {
        Variable places("ABT_SET_AFFINITY", text);
        Library library;
        EXPECT_EQ(told(own_xstream()), process) << text;
    }
}
