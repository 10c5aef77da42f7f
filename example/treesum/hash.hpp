// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hashes whole files with libcrypto. The hashing units share a few hashers, each with its buffer.
// The hashers and a semaphore bound memory and open files, whatever the size of the tree.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <openssl/evp.h>
#include <sys/types.h>
#include <weft/weft.hpp>

#include "report.hpp"
#include "text.hpp"

namespace treesum {

// How a file is opened.
enum class Opening {
    listed,   // found by walking: a regular file, no symbolic link; opening never waits
    named     // named by a list of checksums: whatever the name refers to
};

class Hasher {
public:
    // Throws std::runtime_error when libcrypto has no SHA-256.
    Hasher();

    // Computes the digest of the file. Returns 0 or an errno. Other units run while it opens and
    // reads.
    int hash(const std::string& path, Opening opening, Digest& digest, Report& report);

private:
    static constexpr std::size_t chunk_bytes = 128 * 1024;

    ssize_t read_chunk(int descriptor);

    struct MessageDeleter {
        void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    };
    struct AlgorithmDeleter {
        void operator()(EVP_MD* algorithm) const { EVP_MD_free(algorithm); }
    };
    std::unique_ptr<EVP_MD, AlgorithmDeleter> algorithm_;
    std::unique_ptr<EVP_MD_CTX, MessageDeleter> context_;
    std::unique_ptr<unsigned char[]> buffer_;
};

// Runs hashing units, at most `places` at once.
class Hashing {
public:
    Hashing(Report& report, std::size_t places)
        : report_(report), places_(places), free_(static_cast<std::ptrdiff_t>(places)) {}

    // Calls then(path, errno or 0, digest) on a unit of its own, once the file was read. Suspends
    // the caller while too many units are hashing. An exception of `then` is reported as a failure
    // of the file.
    template <class Then>
    void start(std::string path, Opening opening, Then then) {
        free_.acquire();
        report_.found();
        try {
            // The name is copied, so that it is still here after a refused spawn, when the caller's
            // unit does the work.
            weft::thread({.name = "hash"}, [this, path, opening, then] { run(path, opening, then); }).detach();
        } catch (const weft::error&) {
            run(path, opening, then);
        } catch (...) {
            free_.release();
            throw;
        }
    }

    // Waits for all units that were started; none may be started meanwhile.
    void finish() {
        for (std::size_t i = 0; i < places_; ++i) free_.acquire();
    }

private:
    // Gives the place back, however the work ends.
    struct Place {
        Hashing& hashing;
        ~Place() {
            hashing.report_.done();
            hashing.free_.release();
        }
    };

    template <class Then>
    void run(const std::string& path, Opening opening, const Then& then) {
        const Place place{*this};
        try {
            Digest digest{};
            std::unique_ptr<Hasher> hasher = take_hasher();
            const int error_number = hasher->hash(path, opening, digest, report_);
            keep_hasher(std::move(hasher));
            then(path, error_number, digest);
        } catch (const std::exception& problem) {
            report_.failure(path, problem.what());
        }
    }

    std::unique_ptr<Hasher> take_hasher();
    void keep_hasher(std::unique_ptr<Hasher> hasher);

    Report& report_;
    const std::size_t places_;
    weft::counting_semaphore<> free_;   // counts the free places
    weft::mutex mutex_;                 // guards the idle hashers
    std::vector<std::unique_ptr<Hasher>> idle_;
};

}   // namespace treesum
