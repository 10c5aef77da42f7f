// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/own_jobs.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "process/job_types.hpp"

namespace {

using weft::OwnJobs;

// The numbers of the jobs from `newest` to the oldest, the first job being number 0.
std::string numbers(const weft_job* newest, const weft_job* all) {
    std::string text;
    for (const weft_job* job = newest; job != nullptr; job = OwnJobs::older(*job)) text += std::to_string(job - all);
    return text;
}

TEST(OwnJobs, TheOlderHalfLeavesAndTheNewestStay) {
    struct {
        std::size_t jobs;
        const char *leave, *stay;
    } constexpr cases[] = {{1, "0", ""}, {2, "0", "1"}, {3, "10", "2"}, {4, "10", "32"}, {5, "210", "43"}};
    for (const auto& [count, leave, stay] : cases) {
        OwnJobs own;
        weft_job jobs[5] = {};
        own.open();
        for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(own.push(jobs[i]));
        const OwnJobs::Part part = own.take_older_half();
        EXPECT_EQ(numbers(part.newest, jobs), leave);
        EXPECT_EQ(part.count, std::strlen(leave));
        EXPECT_EQ(numbers(own.face.newest, jobs), stay);
    }
}

TEST(OwnJobs, AllLeave) {
    OwnJobs own;
    weft_job jobs[3] = {};
    own.open();
    for (weft_job& job : jobs) EXPECT_TRUE(own.push(job));
    const OwnJobs::Part part = own.take_all();
    EXPECT_EQ(numbers(part.newest, jobs), "210");
    EXPECT_EQ(part.count, 3u);
    EXPECT_TRUE(own.empty());
}

TEST(OwnJobs, AJoinFindsOnlyTheNewest) {
    OwnJobs own;
    weft_job older, newer;
    own.open();
    EXPECT_TRUE(own.push(older));
    EXPECT_TRUE(own.push(newer));
    EXPECT_FALSE(own.pop(older));
    EXPECT_TRUE(own.pop(newer));
    EXPECT_FALSE(own.pop(newer));
    EXPECT_TRUE(own.pop(older));
    EXPECT_FALSE(own.pop(older));
}

TEST(OwnJobs, ARequestClosesAndTheForkThatOpensSeesIt) {
    OwnJobs own;
    weft_job jobs[3];
    EXPECT_FALSE(own.push(jobs[0]));   // it begins closed
    EXPECT_FALSE(own.push_and_open(jobs[0]));
    EXPECT_TRUE(own.push(jobs[1]));
    own.request_steal();
    EXPECT_FALSE(own.push(jobs[2]));
    EXPECT_TRUE(own.push_and_open(jobs[2]));
    own.close();
    EXPECT_FALSE(own.push(jobs[2]));
}

}   // namespace
