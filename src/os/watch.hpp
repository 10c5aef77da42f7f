// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seams to the kernel's notifications about files: one thread sleeps until one of a set of
// descriptors is ready, a time has come, or another thread rings.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::os {

struct Watch {
    int set = -1;    // the epoll descriptor
    int ring = -1;   // an eventfd in the set
};

bool watch_open(Watch& watch);   // false: the kernel has no more descriptors
void watch_close(Watch& watch);

// The descriptor is reported once when it is ready (EPOLLIN, EPOLLOUT, ... in `events`), and again
// only after it has been armed again. False: the kernel refuses (not a descriptor, or one of a
// regular file).
bool watch_add(const Watch& watch, int descriptor, std::uint32_t events, std::uint32_t tag);
bool watch_arm(const Watch& watch, int descriptor, std::uint32_t events, std::uint32_t tag);
void watch_remove(const Watch& watch, int descriptor);

// Sleeps for at most `timeout_ns`. Writes the tags of descriptors that are ready to `tags`, at most
// `most`; returns how many.
std::size_t watch_wait(const Watch& watch, std::uint64_t timeout_ns, std::uint32_t* tags, std::size_t most);

// Ends the current wait, or the next one. From any thread.
void watch_ring(const Watch& watch);

}   // namespace weft::os
