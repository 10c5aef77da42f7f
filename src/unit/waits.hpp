// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a unit waits for, in one byte of its descriptor.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

enum class Waits : std::uint8_t {
    as_stated,   // its state says it: suspended by the program, or waiting for the end of one unit
    mutex,
    condition,
    event,
    semaphore,
    latch,
    barrier,
    rwlock,
    channel,
    any_event,
    any_channel,
    time,
    join,   // for the end of a unit, with a deadline
    join_many,
    stream_free,
    migration,
    blocking,
    work,
    invoke,
    domain,         // for the harts of a domain that is unregistered
    members,        // of a team (forkjoin/spmd.cpp)
    domain_pause,   // for its domain to continue it
    suspend,        // reported to observers only: its state says it
};

// The name in weft_unit_info. For any byte: it may be read while it changes.
constexpr const char* name_of(Waits waits) {
    constexpr const char* names[] = {
        "join",
        "mutex",
        "condition",
        "event",
        "semaphore",
        "latch",
        "barrier",
        "read-write lock",
        "channel",
        "any of several events",
        "one of several channels",
        "sleep",
        "join",
        "join_many",
        "stream_free",
        "migration",
        "blocking call",
        "work",
        "invoke",
        "domain",
        "members of a team",
        "its domain, paused",
        "suspend",
    };
    static_assert(sizeof names / sizeof *names == static_cast<std::size_t>(Waits::suspend) + 1);
    const auto index = static_cast<std::size_t>(waits);
    return index < sizeof names / sizeof *names ? names[index] : "?";
}

}   // namespace weft
