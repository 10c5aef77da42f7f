// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/watch.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "os/fault.hpp"
#include "os/futex.hpp"

namespace weft::os {
namespace {

constexpr std::uint32_t ring_tag = ~std::uint32_t{0};

bool control(const Watch& watch, int operation, int descriptor, std::uint32_t events, std::uint32_t tag) {
    epoll_event event{};
    event.events = events;
    event.data.u32 = tag;
    return epoll_ctl(watch.set, operation, descriptor, &event) == 0;
}

// In whole milliseconds where the kernel has no finer wait, never too short.
int wait_at_most(int set, epoll_event* events, int most, std::uint64_t timeout_ns) {
    if (timeout_ns == forever) return epoll_wait(set, events, most, -1);
    const timespec limit{static_cast<time_t>(timeout_ns / 1'000'000'000),
                         static_cast<long>(timeout_ns % 1'000'000'000)};
    const int ready = epoll_pwait2(set, events, most, &limit, nullptr);
    if (ready >= 0 || errno != ENOSYS) return ready;
    const std::uint64_t whole_ms = (timeout_ns + 999'999) / 1'000'000;
    return epoll_wait(set, events, most, whole_ms > 1'000'000 ? 1'000'000 : static_cast<int>(whole_ms));
}

}   // namespace

bool watch_open(Watch& watch) {
    if (fault(Seam::watch)) return false;
    watch.set = epoll_create1(EPOLL_CLOEXEC);
    watch.ring = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (watch.set >= 0 && watch.ring >= 0 && control(watch, EPOLL_CTL_ADD, watch.ring, EPOLLIN, ring_tag)) return true;
    watch_close(watch);
    return false;
}

void watch_close(Watch& watch) {
    if (watch.set >= 0) close(watch.set);
    if (watch.ring >= 0) close(watch.ring);
    watch = Watch{};
}

bool watch_add(const Watch& watch, int descriptor, std::uint32_t events, std::uint32_t tag) {
    return control(watch, EPOLL_CTL_ADD, descriptor, events | EPOLLONESHOT, tag);
}

bool watch_arm(const Watch& watch, int descriptor, std::uint32_t events, std::uint32_t tag) {
    return control(watch, EPOLL_CTL_MOD, descriptor, events | EPOLLONESHOT, tag);
}

void watch_remove(const Watch& watch, int descriptor) { control(watch, EPOLL_CTL_DEL, descriptor, 0, 0); }

std::size_t watch_wait(const Watch& watch, std::uint64_t timeout_ns, std::uint32_t* tags, std::size_t most) {
    epoll_event events[16];
    // No more than the caller has room for, even if one of them is the ring: the kernel reports a
    // descriptor once, so a report that is dropped is lost.
    const int wanted = most < 16 ? static_cast<int>(most) : 16;
    const int ready = wait_at_most(watch.set, events, wanted, timeout_ns);
    std::size_t told = 0;
    for (int i = 0; i < ready; ++i) {
        if (events[i].data.u32 == ring_tag) {
            std::uint64_t rung;
            static_cast<void>(!read(watch.ring, &rung, sizeof rung));   // nonblocking: another wait may have taken it
        } else {
            tags[told++] = events[i].data.u32;
        }
    }
    return told;
}

void watch_ring(const Watch& watch) {
    const int kept = errno;
    const std::uint64_t one = 1;
    // it fails only when the count is full: then the wait ends anyway
    static_cast<void>(!write(watch.ring, &one, sizeof one));
    errno = kept;
}

}   // namespace weft::os
