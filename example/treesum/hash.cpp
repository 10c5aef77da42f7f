#include "hash.hpp"

#include <cerrno>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "last_error.hpp"

namespace treesum {
namespace {

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    int number() const { return number_; }

private:
    int number_;
};

// O_NONBLOCK: should a FIFO have taken the file's place since it was listed, opening it does not wait for a writer.
constexpr int flags_of(Opening opening) {
    return O_RDONLY | O_CLOEXEC | O_NOCTTY | (opening == Opening::listed ? O_NOFOLLOW | O_NONBLOCK : 0);
}

}  // namespace

Hasher::Hasher()
    : algorithm_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()),
      buffer_(std::make_unique_for_overwrite<unsigned char[]>(chunk_bytes)) {
    if (!algorithm_ || !context_) throw std::runtime_error("libcrypto offers no SHA-256");
}

int Hasher::hash(const std::string& path, Opening opening, Digest& digest, Report& report) {
    const Descriptor file(::open(path.c_str(), flags_of(opening)));
    if (file.number() < 0) return last_error();
    if (opening == Opening::listed) {
        struct stat status;
        if (::fstat(file.number(), &status) != 0) return last_error();
        if (!S_ISREG(status.st_mode)) return ESTALE;
    }
    if (EVP_DigestInit_ex2(context_.get(), algorithm_.get(), nullptr) != 1) throw std::runtime_error("SHA-256 failed");
    for (bool first = true;; first = false) {
        const ssize_t bytes = ::read(file.number(), buffer_.get(), chunk_bytes);
        if (bytes < 0 && last_error() == EINTR) continue;
        if (bytes < 0) return last_error();
        if (bytes == 0) break;
        if (!first) weft::this_thread::yield();  // others have their turn while a large file is read
        if (EVP_DigestUpdate(context_.get(), buffer_.get(), static_cast<std::size_t>(bytes)) != 1) {
            throw std::runtime_error("SHA-256 failed");
        }
        report.read(static_cast<std::uint64_t>(bytes));
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

}  // namespace treesum
