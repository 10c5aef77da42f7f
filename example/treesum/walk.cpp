// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "walk.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <weft/weft.hpp>

#include "cached.hpp"
#include "last_error.hpp"
#include "text.hpp"

namespace treesum {
namespace {

// A directory on the path to a directory that is still to be read.
struct Place {
    std::shared_ptr<const Place> above;
    dev_t device = 0;
    ino_t inode = 0;
};

struct Directory {
    std::string path;
    std::shared_ptr<const Place> above;   // null: the user named it
};

// The directories that are still to be read, newest first, so that the length of the list stays
// near the depth of the tree. A walker waits here, suspended, while other walkers may still find
// directories. When all wait, the walk is over.
class DirectoryList {
public:
    explicit DirectoryList(std::size_t walkers) : reading_(walkers) {}

    void add(Directory directory) {
        const std::lock_guard guard(mutex_);
        waiting_.push_back(std::move(directory));
        changed_.notify_one();
    }

    // The next directory for a walker that has read its last one; nothing when the walk is over.
    std::optional<Directory> next() {
        std::unique_lock lock(mutex_);
        --reading_;
        changed_.wait(lock, [this] { return !waiting_.empty() || reading_ == 0; });
        if (waiting_.empty()) {
            changed_.notify_all();   // no walker is reading any more
            return std::nullopt;
        }
        ++reading_;
        Directory directory = std::move(waiting_.back());
        waiting_.pop_back();
        return directory;
    }

private:
    weft::mutex mutex_;   // guards all members below
    weft::condition_variable changed_;
    std::vector<Directory> waiting_;
    std::size_t reading_;   // walkers that are not waiting
};

// Whether the kernel makes up this tree. Such trees are endless, differ at each reading, and have
// files that block their reader.
bool made_up(int descriptor) {
    struct statfs system;
    if (::fstatfs(descriptor, &system) != 0) return false;
    switch (static_cast<unsigned long>(system.f_type)) {
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case DEBUGFS_MAGIC:
    case TRACEFS_MAGIC:
    case SECURITYFS_MAGIC:
    case CGROUP_SUPER_MAGIC:
    case CGROUP2_SUPER_MAGIC:
    case BPF_FS_MAGIC: return true;
    default: return false;
    }
}

class Walk {
public:
    Walk(std::size_t walkers, Report& report, const std::function<void(std::string)>& file)
        : list_(walkers), report_(report), file_(file) {}

    // A path that the user named.
    void begin(const std::string& root) {
        struct stat status;
        if (::lstat(root.c_str(), &status) != 0) {
            report_.failure(root, last_error());
        } else if (S_ISDIR(status.st_mode)) {
            list_.add({root, nullptr});
        } else if (S_ISREG(status.st_mode)) {
            file_(root);
        }
    }

    // The body of each walker.
    void run() {
        while (auto directory = list_.next()) {
            try {
                read(*directory);
            } catch (const std::exception& problem) {
                report_.failure(directory->path, problem.what());
            }
        }
    }

private:
    struct Closer {
        void operator()(DIR* stream) const { ::closedir(stream); }
    };
    using Stream = std::unique_ptr<DIR, Closer>;

    void read(const Directory& directory) {
        // With O_NOFOLLOW a trailing slash still follows a symbolic link, as with find; only a path
        // that the user named can have one. The open may wait for a disk or a server: other units
        // run meanwhile.
        constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        int descriptor = open_cached(directory.path, flags);
        if (descriptor < 0) descriptor = weft::blocking([&directory] { return ::open(directory.path.c_str(), flags); });
        if (descriptor < 0) return report_.failure(directory.path, last_error());
        const Stream stream(::fdopendir(descriptor));
        if (!stream) {
            const int problem = last_error();
            ::close(descriptor);
            return report_.failure(directory.path, problem);
        }
        const auto here = place(directory, descriptor);
        if (!here) return;
        for (;;) {
            clear_error();
            const dirent* const entry = ::readdir(stream.get());
            if (entry == nullptr) {
                if (last_error() != 0) report_.failure(directory.path, last_error());
                return;
            }
            visit(directory, here, descriptor, *entry);
        }
    }

    // The place of this directory; null, after a message to the user, when it is not to be read.
    std::shared_ptr<const Place> place(const Directory& directory, int descriptor) {
        struct stat status;
        if (::fstat(descriptor, &status) != 0) {
            report_.failure(directory.path, last_error());
            return nullptr;
        }
        for (const Place* above = directory.above.get(); above != nullptr; above = above->above.get()) {
            if (above->device == status.st_dev && above->inode == status.st_ino) {
                report_.failure(directory.path, "is mounted below itself; not entered again");
                return nullptr;
            }
        }
        if (directory.above && directory.above->device != status.st_dev && made_up(descriptor)) {
            report_.warning(quoted(directory.path) + ": made up by the kernel; not entered unless named");
            return nullptr;
        }
        return std::make_shared<const Place>(Place{directory.above, status.st_dev, status.st_ino});
    }

    void visit(const Directory& directory, const std::shared_ptr<const Place>& here, int descriptor,
               const dirent& entry) {
        const std::string_view name = entry.d_name;
        if (name == "." || name == "..") return;
        unsigned char type = entry.d_type;
        std::string path = directory.path;
        if (!path.ends_with('/')) path += '/';
        path += name;
        if (type == DT_UNKNOWN) {   // some file systems do not report the type
            struct stat status;
            if (::fstatat(descriptor, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
                return report_.failure(path, last_error());
            }
            type = static_cast<unsigned char>(IFTODT(status.st_mode));
        }
        if (type == DT_DIR) {
            list_.add({std::move(path), here});
        } else if (type == DT_REG) {
            file_(std::move(path));
        }
    }

    DirectoryList list_;
    Report& report_;
    const std::function<void(std::string)>& file_;
};

}   // namespace

void walk(const std::vector<std::string>& roots, std::size_t walkers, Report& report,
          const std::function<void(std::string)>& file) {
    Walk walk(walkers, report, file);
    for (const std::string& root : roots) walk.begin(root);
    weft::spawn_many({.name = "walk"}, walkers, [&walk] { walk.run(); }).join();
}

}   // namespace treesum
