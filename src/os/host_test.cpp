// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hosts where the address space is limited, as by `ulimit -v`.
#include "os/host.hpp"

#include <gtest/gtest.h>

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "base/config.hpp"
#include "base/sanitizer.hpp"

namespace weft::os {
namespace {

constexpr std::size_t MiB = 1 << 20;
constexpr std::size_t stack_bytes = 256 << 10;

std::size_t mapped_bytes() {
    std::FILE* const file = std::fopen("/proc/self/statm", "re");
    std::size_t pages = 0;
    if (file == nullptr) return 0;
    if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
    std::fclose(file);
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Calls body() in a child process and returns its exit status; if a signal has ended the child,
// minus the signal's number.
template <class Body>
int in_child(Body body) {
    const pid_t child = fork();
    if (child == 0) _exit(body());
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Starts a host, ends a unit on it, and lets it end. Returns whether the host could have had
// another unit.
bool hosts_one_unit() {
    HostThread host;
    if (!host_start(host, stack_bytes, nullptr)) return false;
    host_await(host);
    bool may_have_more = false;
    const bool returned = host_call([](void* raw) { *static_cast<bool*>(raw) = true; }, &may_have_more);
    may_have_more = returned && may_have_more && host_end_of_unit(host);
    host_release(host);
    thread_join(host.thread);
    return may_have_more;
}

class Host : public ::testing::Test {
protected:
    void SetUp() override {
        if (!hosts_supported()) GTEST_SKIP() << "there are no hosts on this system";
        if (config::address_sanitizer || config::thread_sanitizer)
            GTEST_SKIP() << "sanitizers need more addresses than there are memory";
        if (mapped_bytes() == 0) GTEST_SKIP() << "/proc does not say how much is mapped";
    }
};

TEST_F(Host, StartsAndEndsAUnitWhereTheLibraryFindsNoAddressesForTheThreadsAllocations) {
    // Room for stacks, but none for the 64 MiB that the C library reserves for a thread that
    // allocates: then the library sets errno, and maps pages.
    const int status = in_child([] {
        const std::size_t most = mapped_bytes() + 24 * MiB;
        const rlimit limit{most, most};
        if (setrlimit(RLIMIT_AS, &limit) != 0) return 3;
        host_begin();
        return hosts_one_unit() ? 0 : 1;
    });
    EXPECT_EQ(status, 0);
}

TEST_F(Host, ReservesNoMoreThanItsStack) {
    const int status = in_child([] {
        host_begin();
        const std::size_t before = mapped_bytes();
        HostThread host;
        if (!host_start(host, stack_bytes, nullptr)) return 2;
        host_await(host);
        return mapped_bytes() - before < 32 * MiB ? 0 : 1;
    });
    EXPECT_EQ(status, 0);
}

TEST_F(Host, HasHalfTheStackWhereItsOwnFindsNoRoomUnlessASizeWasAskedFor) {
    const int status = in_child([] {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        std::size_t full = 0;
        pthread_attr_getstacksize(&attributes, &full);
        const std::size_t most = mapped_bytes() + full / 4 * 3;
        const rlimit limit{most, most};
        if (setrlimit(RLIMIT_AS, &limit) != 0) return 3;
        host_begin();
        HostThread asked, host;
        if (host_start(asked, full / 8 * 7, nullptr)) return 1;
        if (!host_start(host, 0, nullptr)) return 2;
        host_await(host);
        const auto bytes = static_cast<std::size_t>(host.top - host.lowest);
        return bytes > full / 4 && bytes <= full / 2 ? 0 : 4;
    });
    EXPECT_EQ(status, 0);
}

}   // namespace
}   // namespace weft::os
