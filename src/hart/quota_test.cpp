// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CPU quotas of cgroups, read from trees that the tests lay out; and the limit that results from
// them.
#include "hart/quota.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "os/thread.hpp"

namespace weft::hart {
namespace {

constexpr const char* v2_mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* v1_mount = "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

// A machine: what the process reads about itself, and the files below the mount points.
class Machine : public testing::Test {
protected:
    Machine() {
        std::string name = (std::filesystem::temp_directory_path() / "weft-quota-XXXXXX").string();
        root_ = mkdtemp(name.data());
    }
    ~Machine() override { std::filesystem::remove_all(root_); }

    void write(const std::string& path, const std::string& text) {
        const std::string file = root_ + path;
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        std::ofstream(file, std::ios::binary) << text;
    }
    void cgroup(const std::string& text) { write("/cgroup", text); }
    void mounts(const std::string& text) {
        write("/mountinfo",
              "22 29 0:20 / /proc rw - proc proc rw\n" + text + "40 29 8:1 / /data rw - ext4 /dev/sda1 rw\n");
    }
    QuotaFiles files() {
        cgroup_file_ = root_ + "/cgroup";
        mountinfo_file_ = root_ + "/mountinfo";
        return {cgroup_file_.c_str(), mountinfo_file_.c_str(), root_.c_str()};
    }
    std::size_t harts() { return quota_harts(files()); }

private:
    std::string root_, cgroup_file_, mountinfo_file_;
};

using Quota = Machine;

// ---- version 2 ----------------------------------------------------------------------------------

TEST_F(Quota, OfVersionTwoIsQuotaDividedByPeriod) {
    cgroup("0::/app\n");
    mounts(v2_mount);
    write("/sys/fs/cgroup/app/cpu.max", "300000 100000\n");
    EXPECT_EQ(harts(), 3u);
}

TEST_F(Quota, IsRoundedDownButIsNeverBelowOne) {
    cgroup("0::/app\n");
    mounts(v2_mount);
    write("/sys/fs/cgroup/app/cpu.max", "250000 100000\n");
    EXPECT_EQ(harts(), 2u);
    write("/sys/fs/cgroup/app/cpu.max", "50000 100000\n");
    EXPECT_EQ(harts(), 1u);
    write("/sys/fs/cgroup/app/cpu.max", "399999 100000\n");
    EXPECT_EQ(harts(), 3u);
}

TEST_F(Quota, MaxIsNoLimit) {
    cgroup("0::/app\n");
    mounts(v2_mount);
    write("/sys/fs/cgroup/app/cpu.max", "max 100000\n");
    EXPECT_EQ(harts(), no_limit);
}

TEST_F(Quota, OfAnAncestorCountsWhenItIsTighter) {
    cgroup("0::/slice/service/worker\n");
    mounts(v2_mount);
    write("/sys/fs/cgroup/slice/service/worker/cpu.max", "800000 100000\n");
    write("/sys/fs/cgroup/slice/cpu.max", "200000 100000\n");
    EXPECT_EQ(harts(), 2u);
    write("/sys/fs/cgroup/slice/service/cpu.max", "max 100000\n");
    EXPECT_EQ(harts(), 2u);
    write("/sys/fs/cgroup/slice/cpu.max", "max 100000\n");
    EXPECT_EQ(harts(), 8u);
    write("/sys/fs/cgroup/cpu.max", "400000 100000\n");   // the top of a container's namespace has one
    EXPECT_EQ(harts(), 4u);
}

TEST_F(Quota, OfACgroupBesideOursIsNotOurs) {
    cgroup("0::/ours\n");
    mounts(v2_mount);
    write("/sys/fs/cgroup/theirs/cpu.max", "100000 100000\n");
    write("/sys/fs/cgroup/ours/child/cpu.max", "100000 100000\n");
    EXPECT_EQ(harts(), no_limit);
}

TEST_F(Quota, OfTheTopIsReadWhenTheProcessIsThere) {
    cgroup("0::/\n");
    mounts(v2_mount);
    write("/sys/fs/cgroup/cpu.max", "500000 100000\n");
    EXPECT_EQ(harts(), 5u);
}

// ---- version 1 ----------------------------------------------------------------------------------

TEST_F(Quota, OfVersionOneLiesInTwoFilesOfTheCpuHierarchy) {
    cgroup("5:memory:/other\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/docker/x\n");
    mounts(v1_mount);
    write("/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "250000\n");
    write("/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "50000\n");
    EXPECT_EQ(harts(), 5u);
    write("/sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "300000\n");
    write("/sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(harts(), 3u);
}

TEST_F(Quota, OfMinusOneInVersionOneIsNoLimit) {
    cgroup("4:cpu,cpuacct:/x\n");
    mounts(v1_mount);
    write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
    write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(harts(), no_limit);
}

TEST_F(Quota, IsNotLookedForInTheCpusetHierarchy) {
    cgroup("4:cpuset:/x\n");
    mounts("33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
    write("/sys/fs/cgroup/cpuset/x/cpu.cfs_quota_us", "100000\n");
    write("/sys/fs/cgroup/cpuset/x/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(harts(), no_limit);
    cgroup("4:cpu:/x\n");   // and our cpu cgroup is not looked for in the cpuset mount
    EXPECT_EQ(harts(), no_limit);
}

TEST_F(Quota, OfBothVersionsAtOnceIsTheTighterOne) {
    cgroup("4:cpu,cpuacct:/one\n0::/two\n");
    mounts(std::string(v1_mount) + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    write("/sys/fs/cgroup/cpu,cpuacct/one/cpu.cfs_quota_us", "400000\n");
    write("/sys/fs/cgroup/cpu,cpuacct/one/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(harts(), 4u);
    write("/sys/fs/cgroup/unified/two/cpu.max", "300000 100000\n");
    EXPECT_EQ(harts(), 3u);
    write("/sys/fs/cgroup/cpu,cpuacct/one/cpu.cfs_quota_us", "200000\n");
    EXPECT_EQ(harts(), 2u);
}

// ---- mounts of a part of the tree ---------------------------------------------------------------

TEST_F(Quota, IsFoundBelowAMountWhoseRootIsNotTheTop) {
    cgroup("4:cpu,cpuacct:/docker/abc/inner\n");
    mounts("33 31 0:30 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
    write("/sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "700000\n");
    write("/sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(harts(), 7u);
    write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
    write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(harts(), 2u);
}

TEST_F(Quota, OfAMountThatDoesNotContainOurCgroupIsNotOurs) {
    mounts("33 31 0:30 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
    write("/sys/fs/cgroup/d/cpu.max", "100000 100000\n");
    for (const char* ours : {"0::/docker/abcd\n", "0::/docker\n", "0::/\n", "0::/../beside\n"}) {
        cgroup(ours);
        EXPECT_EQ(harts(), no_limit) << ours;
    }
    mounts(v2_mount);   // a process that was moved out of its namespace: the mount shows other cgroups
    cgroup("0::/../beside\n");
    EXPECT_EQ(harts(), no_limit);
}

TEST_F(Quota, OfAnAncestorThatIsMountedFromOutsideOfTheNamespaceCounts) {
    cgroup("0::/inner\n");
    mounts("33 31 0:30 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    write("/sys/fs/cgroup/cpu.max", "600000 100000\n");
    EXPECT_EQ(harts(), 6u);
    mounts("33 31 0:30 /../beside /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    EXPECT_EQ(harts(), no_limit);
}

TEST_F(Quota, IsFoundWhereTheMountPointIsWrittenWithEscapes) {
    cgroup("0::/a b\n");
    mounts("30 23 0:26 / /my\\040cgroups\\134x rw shared:9 master:2 - cgroup2 none rw\n");
    write("/my cgroups\\x/a b/cpu.max", "900000 100000\n");
    EXPECT_EQ(harts(), 9u);
}

// ---- nothing, and nonsense ----------------------------------------------------------------------

TEST_F(Quota, OfAMachineWithoutTheFilesIsNoLimit) {
    EXPECT_EQ(harts(), no_limit);
    cgroup("0::/app\n");
    EXPECT_EQ(harts(), no_limit);
    mounts(v2_mount);
    EXPECT_EQ(harts(), no_limit);
    mounts("");
    EXPECT_EQ(harts(), no_limit);
}

TEST_F(Quota, ThatCannotBeUnderstoodIsNoLimit) {
    cgroup("0::/app\n");
    mounts(v2_mount);
    for (const char* text :
         {"", "\n", "100000\n", "100000 \n", " 100000\n", "100000 0\n", "100000 x\n", "1e5 100000\n",
          "-100000 100000\n", "99999999999999999999999 100000\n", "100000 100000 100000\n", "max\n", "\xff\xfe\n"}) {
        write("/sys/fs/cgroup/app/cpu.max", text);
        EXPECT_EQ(harts(), no_limit) << '"' << text << '"';
    }
    cgroup("4:cpu:/x\n");
    mounts(v1_mount);
    write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "100000\n");
    EXPECT_EQ(harts(), no_limit);   // no period
    write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "0\n");
    EXPECT_EQ(harts(), no_limit);
}

TEST_F(Quota, InADirectoryWhereAFileShouldBeIsNoLimit) {
    cgroup("0::/app\n");
    mounts(v2_mount);
    write("/sys/fs/cgroup/app/cpu.max/file", "100000 100000\n");
    EXPECT_EQ(harts(), no_limit);
}

TEST_F(Quota, OfPathsLongerThanAnyIsNoLimit) {
    std::string path;
    while (path.size() < 10'000) path += "/directory";
    cgroup("0::" + path + "\n");
    mounts(v2_mount);
    write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
    EXPECT_EQ(harts(), no_limit);
    cgroup("0::/app\n");
    mounts("30 23 0:26 " + path + " /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n30 23 0:26 / " + path +
           " rw - cgroup2 cgroup2 rw\n");
    EXPECT_EQ(harts(), no_limit);
}

TEST_F(Quota, OfFilesWithBytesChangedAtRandomIsAnAnswerAllTheSame) {
    constexpr std::uint64_t seed = 20'240;
    RecordProperty("seed", std::to_string(seed));
    Random random(seed);
    const std::string whole_cgroup = "4:cpu,cpuacct:/docker/x\n0::/a/b\n";
    const std::string whole_mounts = std::string(v1_mount) + v2_mount;
    const std::string bytes = "/.\\:, -\n0178acgpu";
    auto damaged = [&](std::string text) {
        for (std::uint32_t change = random.below(6); change-- > 0;) {
            const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()));
            switch (random.below(3)) {
            case 0: text[at] = bytes[random.below(static_cast<std::uint32_t>(bytes.size()))]; break;
            case 1: text.insert(at, 1, bytes[random.below(static_cast<std::uint32_t>(bytes.size()))]); break;
            default: text.erase(at, 1 + random.below(8)); break;
            }
            if (text.empty()) text = "\n";
        }
        return text;
    };
    write("/sys/fs/cgroup/a/b/cpu.max", "300000 100000\n");
    for (int round = 0; round < 200; ++round) {
        cgroup(damaged(whole_cgroup));
        mounts(damaged(whole_mounts));
        const std::size_t found = harts();
        EXPECT_TRUE(found == 3 || found == no_limit) << "seed " << seed << ", round " << round << ": " << found;
    }
}

// ---- the limit ----------------------------------------------------------------------------------

std::uint64_t test_time = 0;
std::uint64_t test_clock() { return test_time; }

TEST_F(Quota, IsReadAnewAfterASecondAndNotBefore) {
    if (process_cpus().count() < 2) GTEST_SKIP() << "one CPU: every limit is 1";
    cgroup("0::/app\n");
    mounts(v2_mount);
    write("/sys/fs/cgroup/app/cpu.max", "100000 100000\n");
    test_time = 5'000'000'000;
    Limit one(files(), test_clock);
    EXPECT_EQ(one.get(), 1u);
    write("/sys/fs/cgroup/app/cpu.max", "200000 100000\n");
    test_time += Limit::lasts_ns - 1;
    EXPECT_EQ(one.get(), 1u);
    test_time += 1;
    EXPECT_EQ(one.get(), 2u);
    write("/sys/fs/cgroup/app/cpu.max", "100000 100000\n");
    EXPECT_EQ(one.get(), 2u);
    EXPECT_EQ(one.read(), 1u);   // by force
    EXPECT_EQ(one.get(), 1u);
}

TEST_F(Quota, BeyondTheCpusOfTheProcessChangesNothing) {
    cgroup("0::/app\n");
    mounts(v2_mount);
    write("/sys/fs/cgroup/app/cpu.max", "500000000 100000\n");
    Limit one(files(), test_clock);
    EXPECT_EQ(one.get(), process_cpus().count());
}

TEST(ProcessCpus, AreThoseOfTheFirstToAskEvenWhenThreadsArePinnedLater) {
    const os::CpuSet all = process_cpus();
    os::CpuSet before, pinned;
    ASSERT_TRUE(os::affinity_get(0, before));
    EXPECT_EQ(all, before);
    pinned.add(all.at(all.count() - 1));
    ASSERT_TRUE(os::affinity_set(0, pinned));
    EXPECT_EQ(process_cpus(), all);
    const std::size_t forced = limit_anew();   // a caller that forces the read says that this is the process's mask
    EXPECT_EQ(forced, 1u);
    EXPECT_EQ(process_cpus(), pinned);
    ASSERT_TRUE(os::affinity_set(0, before));
    limit_anew();
    EXPECT_EQ(process_cpus(), all);
}

TEST(ProcessCpus, AreThoseOfTheThreadThatSpeaksOnceALimitIsRead) {
    const os::CpuSet all = process_cpus();
    os::CpuSet pinned;
    pinned.add(all.at(0));
    ASSERT_TRUE(os::affinity_set(0, pinned));
    Limit limit({}, test_clock);
    EXPECT_EQ(limit.read(), std::min(all.count(), quota_harts()));
    let_speak(os::thread_id());
    EXPECT_EQ(limit.get(), std::min(all.count(), quota_harts())) << "it is not a second old";
    test_time += Limit::lasts_ns;
    EXPECT_EQ(limit.get(), 1u);
    EXPECT_EQ(process_cpus(), pinned);
    ASSERT_TRUE(os::affinity_set(0, all));
    EXPECT_EQ(limit.read(), std::min(all.count(), quota_harts()));
    let_speak(0);
}

TEST(HartLimit, IsNoMoreThanIsAllowedAndNoMoreThanThereAre) {
    const std::size_t all = limit();
    allow(1);
    EXPECT_EQ(limit(), 1u);
    EXPECT_EQ(limit_anew(), 1u);
    allow(all + 5);
    EXPECT_EQ(limit(), all);
    allow(no_limit);
    EXPECT_EQ(limit(), all);
}

TEST(HartLimit, IsTheSameForAllThreadsThatAskAtOnce) {
    const std::size_t expected = std::min(process_cpus().count(), quota_harts());
    std::vector<std::size_t> seen(4);
    std::vector<std::thread> threads;
    for (std::size_t& mine : seen) {
        threads.emplace_back([&mine] {
            for (int i = 0; i < 1000; ++i) mine = limit();
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::size_t mine : seen) EXPECT_EQ(mine, expected);
}

}   // namespace
}   // namespace weft::hart
