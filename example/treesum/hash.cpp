// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hash.hpp"

#include <cerrno>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cached.hpp"
#include "last_error.hpp"

namespace treesum {
namespace {

// O_NONBLOCK: if a FIFO has taken the file's place since it was listed, opening it does not wait
// for a writer.
constexpr int flags_of(Opening opening) {
    return O_RDONLY | O_CLOEXEC | O_NOCTTY | (opening == Opening::listed ? O_NOFOLLOW | O_NONBLOCK : 0);
}

class Descriptor {
public:
    Descriptor() = default;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    int number() const { return number_; }
    off_t size() const { return size_; }   // of a listed file, when it was opened

    // False: the caller must use open(). A file that the user named is not opened here: it may be a
    // FIFO, and opening it waits for a writer.
    bool open_at_once(const std::string& path, Opening opening, int& problem) {
        if (opening != Opening::listed) return false;
        number_ = open_cached(path, flags_of(opening));
        if (number_ >= 0) problem = check(opening);
        return number_ >= 0;
    }

    // Returns 0 or an errno.
    int open(const std::string& path, Opening opening) {
        number_ = ::open(path.c_str(), flags_of(opening));
        return number_ < 0 ? errno : check(opening);
    }

private:
    int check(Opening opening) {
        if (opening != Opening::listed) return 0;
        struct stat status;
        if (::fstat(number_, &status) != 0) return last_error();
        size_ = status.st_size;
        return S_ISREG(status.st_mode) ? 0 : ESTALE;
    }

    int number_ = -1;
    off_t size_ = 0;
};

}   // namespace

Hasher::Hasher()
    : algorithm_(EVP_MD_fetch(nullptr, "SHA256", nullptr)),
      context_(EVP_MD_CTX_new()),
      buffer_(std::make_unique_for_overwrite<unsigned char[]>(chunk_bytes)) {
    if (!algorithm_ || !context_) throw std::runtime_error("libcrypto offers no SHA-256");
}

// The next bytes of the file, at most chunk_bytes; or -1, and errno says why.
ssize_t Hasher::read_chunk(int descriptor) {
    ssize_t bytes;
    do bytes = ::read(descriptor, buffer_.get(), chunk_bytes);
    while (bytes < 0 && errno == EINTR);
    return bytes;
}

// Data in the page cache is read directly; for the rest, the unit gives its hart away while it
// waits.
int Hasher::hash(const std::string& path, Opening opening, Digest& digest, Report& report) {
    Descriptor file;
    int problem = 0;
    ssize_t bytes;
    // a plain read() of a regular file returns less than was asked for only at its end;
    // read_cached() may return less earlier
    bool ended = false;
    if (file.open_at_once(path, opening, problem)) {
        bytes = problem != 0 ? 0 : read_cached(file.number(), buffer_.get(), chunk_bytes);
        ended = bytes > 0 && bytes == file.size();
    } else {
        // One blocking section does all that a small file needs. It reads errno itself, since errno
        // belongs to its OS thread.
        bytes = weft::blocking([&]() -> ssize_t {
            problem = file.open(path, opening);
            if (problem != 0) return 0;
            const ssize_t first = read_chunk(file.number());
            if (first < 0) problem = errno;
            return first;
        });
        ended = bytes < static_cast<ssize_t>(chunk_bytes);
    }
    if (problem != 0) return problem;
    if (EVP_DigestInit_ex2(context_.get(), algorithm_.get(), nullptr) != 1) throw std::runtime_error("SHA-256 failed");
    for (;;) {
        if (bytes < 0) {
            bytes = weft::blocking([&] {
                const ssize_t more = read_chunk(file.number());
                if (more < 0) problem = errno;
                return more;
            });
            if (problem != 0) return problem;
            ended = bytes < static_cast<ssize_t>(chunk_bytes);
        }
        if (bytes == 0) break;
        if (EVP_DigestUpdate(context_.get(), buffer_.get(), static_cast<std::size_t>(bytes)) != 1) {
            throw std::runtime_error("SHA-256 failed");
        }
        report.read(static_cast<std::uint64_t>(bytes));
        if (ended) break;
        bytes = read_cached(file.number(), buffer_.get(), chunk_bytes);
    }
    unsigned length = 0;
    if (EVP_DigestFinal_ex(context_.get(), digest.data(), &length) != 1 || length != digest.size()) {
        throw std::runtime_error("SHA-256 failed");
    }
    return 0;
}

std::unique_ptr<Hasher> Hashing::take_hasher() {
    {
        const std::lock_guard guard(mutex_);
        if (!idle_.empty()) {
            auto hasher = std::move(idle_.back());
            idle_.pop_back();
            return hasher;
        }
    }
    return std::make_unique<Hasher>();
}

void Hashing::keep_hasher(std::unique_ptr<Hasher> hasher) {
    const std::lock_guard guard(mutex_);
    idle_.push_back(std::move(hasher));
}

}   // namespace treesum
