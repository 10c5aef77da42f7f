// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hart/quota.hpp"

#include <limits.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "base/atomic.hpp"
#include "os/clock.hpp"
#include "os/lock.hpp"
#include "os/memory.hpp"

namespace weft::hart {
namespace {

// ---- text files of the kernel -------------------------------------------------------------------

class Lines {
public:
    explicit Lines(const char* path) : file_(std::fopen(path, "re")) {}
    ~Lines() {
        std::free(line_);
        if (file_ != nullptr) std::fclose(file_);
    }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    // The next line without its end; false: there is none, or no file.
    bool next(std::string_view& line) {
        if (file_ == nullptr) return false;
        const ssize_t length = getline(&line_, &room_, file_);
        if (length < 0) return false;
        line = {line_, static_cast<std::size_t>(length)};
        if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
        return true;
    }

private:
    std::FILE* file_;
    char* line_ = nullptr;
    std::size_t room_ = 0;
};

// Cuts off and returns what stands before the first `mark`; all of it when there is no mark.
std::string_view take(std::string_view& text, char mark) {
    const std::size_t at = std::min(text.find(mark), text.size());
    const std::string_view head = text.substr(0, at);
    text.remove_prefix(std::min(at + 1, text.size()));
    return head;
}

bool lists(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        if (take(list, ',') == word) return true;
    }
    return false;
}

bool parse(std::string_view digits, std::uint64_t& value) {
    if (digits.empty() || digits.size() > 18) return false;
    value = 0;
    for (const char digit : digits) {
        if (digit < '0' || digit > '9') return false;
        value = value * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    return true;
}

// A path that grows and shrinks in place, with an end that is always zero.
class Path {
public:
    bool set(std::string_view text) {
        length_ = 0;
        return add(text);
    }
    bool add(std::string_view text) {
        if (length_ + text.size() >= sizeof(text_)) return false;
        std::copy(text.begin(), text.end(), text_ + length_);
        shorten(length_ + text.size());
        return true;
    }
    // As mountinfo writes it: \040 is a space.
    bool add_escaped(std::string_view text) {
        while (!text.empty()) {
            auto octal = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '7'; };
            char one = text[0];
            std::size_t used = 1;
            if (one == '\\' && text.size() >= 4 && octal(1) && octal(2) && octal(3)) {
                one = static_cast<char>((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
                used = 4;
            }
            if (!add({&one, 1})) return false;
            text.remove_prefix(used);
        }
        return true;
    }
    void shorten(std::size_t length) {
        length_ = length;
        text_[length] = '\0';
    }
    std::string_view view() const { return {text_, length_}; }
    const char* text() const { return text_; }
    std::size_t length() const { return length_; }

private:
    std::size_t length_ = 0;
    char text_[PATH_MAX + 64] = {};
};

// ---- one cgroup, and those above it -------------------------------------------------------------

enum class Version { one, two };

std::size_t harts(std::uint64_t quota, std::uint64_t period) {
    if (period == 0) return no_limit;
    return std::max<std::size_t>(1, quota / period);
}

// "quota period" of one directory. "max", and -1 in version 1, are no numbers.
std::size_t own_quota(Path& directory, Version version) {
    const std::size_t length = directory.length();
    std::uint64_t quota = 0, period = 0;
    bool known = false;
    auto first_line = [&](std::string_view name, auto use) {
        if (directory.add(name)) {
            Lines lines(directory.text());
            std::string_view line;
            if (lines.next(line)) use(line);
        }
        directory.shorten(length);
    };
    if (version == Version::two) {
        first_line("/cpu.max", [&](std::string_view line) {
            const std::string_view first = take(line, ' ');
            known = parse(first, quota) && parse(line, period);
        });
    } else {
        first_line("/cpu.cfs_quota_us", [&](std::string_view line) { known = parse(line, quota); });
        if (known) first_line("/cpu.cfs_period_us", [&](std::string_view line) { known = parse(line, period); });
    }
    return known ? harts(quota, period) : no_limit;
}

bool climbs_only(std::string_view path) {
    take(path, '/');   // what stands before the leading slash: nothing
    bool some = false;
    while (!path.empty()) {
        if (take(path, '/') != "..") return false;
        some = true;
    }
    return some;
}

// Where cgroup `path` lies below the mount of `root`, in `rest`; false: not there. Both are as the
// process's cgroup namespace sees them, so a leading ".." means above or beside the namespace's own
// root.
bool below(std::string_view path, std::string_view root, std::string_view& rest) {
    if (climbs_only(root)) {   // an ancestor is mounted: its own limits are visible, not the way down from it
        rest = {};
        return true;
    }
    if (path.starts_with("/..")) return false;
    if (root == "/") root = {};
    if (!path.starts_with(root)) return false;
    rest = path.substr(root.size());
    if (!rest.empty() && rest.front() != '/') return false;
    while (!rest.empty() && rest.back() == '/') rest.remove_suffix(1);
    return true;
}

// The memory that quota_harts works with: too large for the stack of a unit.
struct Work {
    Path cgroup[2];   // of the process, by version; empty: not in one
    Path root;
    Path directory;
};

Path& cgroup_of(Work& work, Version version) { return work.cgroup[version == Version::two]; }

// Lines such as "4:cpu,cpuacct:/a/b" and, for version 2, "0::/a/b".
void find_cgroups(Work& work, const char* file) {
    Lines lines(file);
    for (std::string_view line; lines.next(line);) {
        const std::string_view number = take(line, ':');
        const std::string_view controllers = take(line, ':');
        if (!line.starts_with('/')) continue;
        if (controllers.empty() && number == "0") {
            if (!cgroup_of(work, Version::two).set(line)) work.cgroup[1].shorten(0);
        } else if (lists(controllers, "cpu")) {
            if (!cgroup_of(work, Version::one).set(line)) work.cgroup[0].shorten(0);
        }
    }
}

// The tightest quota from the process's cgroup up to the top of one mount.
std::size_t quota_below(Work& work, std::string_view root, std::string_view mount_point, const char* prefix,
                        Version version) {
    const Path& cgroup = cgroup_of(work, version);
    if (cgroup.length() == 0) return no_limit;
    if (!work.root.set({}) || !work.root.add_escaped(root)) return no_limit;
    std::string_view rest;
    if (!below(cgroup.view(), work.root.view(), rest)) return no_limit;
    Path& directory = work.directory;
    if (!directory.set(prefix) || !directory.add_escaped(mount_point)) return no_limit;
    const std::size_t top = directory.length();
    if (!directory.add(rest)) return no_limit;
    std::size_t tightest = no_limit;
    for (;;) {
        tightest = std::min(tightest, own_quota(directory, version));
        if (directory.length() <= top) return tightest;
        directory.shorten(std::max(top, directory.view().rfind('/')));
    }
}

// "31 23 0:28 /root /mount/point options [tag ...] - type source superoptions"
std::size_t quota_of_mount(Work& work, std::string_view line, const char* prefix) {
    for (int skipped = 0; skipped < 3; ++skipped) take(line, ' ');
    const std::string_view root = take(line, ' ');
    const std::string_view mount_point = take(line, ' ');
    while (!line.empty() && take(line, ' ') != "-") {}
    const std::string_view type = take(line, ' ');
    take(line, ' ');
    if (type == "cgroup2") return quota_below(work, root, mount_point, prefix, Version::two);
    if (type == "cgroup" && lists(line, "cpu")) return quota_below(work, root, mount_point, prefix, Version::one);
    return no_limit;
}

// ---- what is known now --------------------------------------------------------------------------

constinit os::Lock mask_lock;
constinit os::CpuSet mask;   // under mask_lock
constinit atomic<std::uint32_t> speaker{0};
constinit Limit process_limit;
constinit atomic<std::size_t> allowed{no_limit};

}   // namespace

std::size_t quota_harts(const QuotaFiles& files) noexcept {
    auto* work = os::make<Work>();
    if (work == nullptr) return no_limit;
    find_cgroups(*work, files.cgroup);
    std::size_t tightest = no_limit;
    Lines mounts(files.mountinfo);
    for (std::string_view line; mounts.next(line);)
        tightest = std::min(tightest, quota_of_mount(*work, line, files.root));
    os::destroy(work);
    return tightest;
}

os::CpuSet process_cpus() noexcept {
    std::lock_guard guard(mask_lock);
    if (mask.empty()) os::affinity_get(0, mask);
    return mask;
}

// relaxed, both: a number that publishes nothing else.
void let_speak(std::uint32_t thread) noexcept { speaker.store(thread, std::memory_order_relaxed); }

namespace {

void follow_speaker() noexcept {
    const std::uint32_t thread = speaker.load(std::memory_order_relaxed);
    os::CpuSet read;
    if (thread == 0 || !os::affinity_get(thread, read) || read.empty()) return;
    std::lock_guard guard(mask_lock);
    mask = read;
}

}   // namespace

void quota_forked() noexcept {
    let_speak(0);
    if (mask_lock.break_open()) mask = os::CpuSet();   // another thread was about to write it
}

std::size_t Limit::get() noexcept {
    // relaxed, all: each word stands for itself and publishes nothing else. A thread that sees them
    // in the other order reads the limit once more, or uses the last limit once more.
    const std::size_t last = known_.load(std::memory_order_relaxed);
    if (last == 0) return read();
    std::uint64_t due = due_.load(std::memory_order_relaxed);
    const std::uint64_t now = clock_();
    if (now < due) return last;
    // Of the threads that find it due one reads; the others use the known limit.
    if (!due_.compare_exchange_strong(due, now + lasts_ns, std::memory_order_relaxed)) return last;
    return read();
}

std::size_t Limit::read() noexcept {
    follow_speaker();
    const std::size_t found = std::max<std::size_t>(1, std::min(process_cpus().count(), quota_harts(files_)));
    // relaxed, both: each word stands for itself, as get() explains.
    known_.store(found, std::memory_order_relaxed);
    due_.store(clock_() + lasts_ns, std::memory_order_relaxed);
    return found;
}

// relaxed, both: a number.
std::size_t limit() noexcept { return std::min(process_limit.get(), allowed.load(std::memory_order_relaxed)); }

void allow(std::size_t harts) noexcept { allowed.store(harts, std::memory_order_relaxed); }

std::size_t limit_anew() noexcept {
    os::CpuSet read;
    if (os::affinity_get(0, read)) {
        std::lock_guard guard(mask_lock);
        mask = read;
    }
    return std::min(process_limit.read(), allowed.load(std::memory_order_relaxed));   // relaxed: a number
}

}   // namespace weft::hart
