// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CPU quotas: whatever the kernel's files contain, the result is a number of harts of at least 1,
// or that there is no limit. An input is the process's cgroups, its mounts, and the files of the
// few directories that the mounts may lead to, each ended by a byte 0xff.
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iterator>

#include "hart/quota.hpp"
#include "test/fuzz/fuzz.hpp"

using namespace weft_test;

namespace {

const char* const quota_files[] = {"/cpu.max",     "/cpu.cfs_quota_us",   "/cpu.cfs_period_us",
                                   "/a/cpu.max",   "/a/cpu.cfs_quota_us", "/a/cpu.cfs_period_us",
                                   "/a/b/cpu.max", "/c d/cpu.max"};

// A directory for the life of the process. Its subdirectories are created once.
class Folder {
public:
    Folder() : path_(make()) {
        for (const char* part : {"/m", "/m/a", "/m/a/b", "/m/c d"}) mkdir((path_ + part).c_str(), 0700);
    }
    ~Folder() {
        nftw(
            path_.c_str(), [](const char* path, const struct stat*, int, FTW*) { return std::remove(path); }, 8,
            FTW_DEPTH | FTW_PHYS);
    }
    Folder(const Folder&) = delete;

    const std::string& path() const { return path_; }

    // Returns false if the input has no such file; then there is none.
    bool lay(const std::string& name, const std::string& text) const {
        const std::string path = path_ + name;
        if (text.empty()) {
            unlink(path.c_str());
            return false;
        }
        std::FILE* file = std::fopen(path.c_str(), "we");
        check(file != nullptr, "a file can be made", path);
        std::fwrite(text.data(), 1, text.size(), file);
        std::fclose(file);
        return true;
    }

private:
    static std::string make() {
        const char* memory = "/dev/shm";
        std::string path =
            (access(memory, W_OK) == 0 ? std::string(memory) : std::string("/tmp")) + "/weft_cgroup_XXXXXX";
        check(mkdtemp(path.data()) != nullptr, "a folder can be made", path);
        return path;
    }
    std::string path_;
};

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Folder folder;
    Input input(data, size);
    constexpr char end = '\xff';
    folder.lay("/cgroup", input.text(end));
    folder.lay("/mountinfo", input.text(end));
    bool limited = false;
    for (const char* name : quota_files) limited |= folder.lay(std::string("/m") + name, input.text(end));
    const std::string cgroup = folder.path() + "/cgroup", mountinfo = folder.path() + "/mountinfo";
    const weft::hart::QuotaFiles files{cgroup.c_str(), mountinfo.c_str(), folder.path().c_str()};
    const std::size_t harts = weft::hart::quota_harts(files);
    check(harts >= 1, "there is a hart at least");
    check(harts == weft::hart::no_limit || limited, "a limit comes from a file");
    check(harts == weft::hart::no_limit || harts <= 999'999'999'999'999'999,
          "a limit is a number that the files can hold");
    check(weft::hart::quota_harts(files) == harts, "the same files say the same");
    weft::hart::Limit limit(files);
    check(limit.get() >= 1 && limit.get() <= weft::hart::process_cpus().count(),
          "the limit is one of the process's CPUs, or more");
    return 0;
}
