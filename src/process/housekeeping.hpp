// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a stream does between two units besides running them: its timers, the pollers, the calls
// that were posted to it.
//
// None of this costs a stream that runs anything: a requester sets a bit of the stream's attention,
// which the stream reads at each switch anyway. For a timer that comes due while the stream is
// busy, the requester is the reactor (poll/reactor.hpp).
#pragma once

#include "process/process.hpp"
#include "process/stream.hpp"

namespace weft {

// An idle stream that watches pollers without a descriptor sleeps at first for the shorter time,
// and twice as long each time that nothing comes, up to the longer one.
inline constexpr std::uint64_t shortest_poll_sleep_ns = 10'000;
inline constexpr std::uint64_t longest_poll_sleep_ns = 1'000'000;

// The timer will be fired by this stream, or by another if this one ends before. From the stream.
void arm(Stream& stream, Timer& timer);

// arm(), for an OS thread that is no stream: stream 0 fires the timer.
void arm_outside(Process& of, Timer& timer);

// Handles the bits of attention that belong here, and clears them. Returns whether something was
// done. From the scheduler's stack.
bool do_housekeeping(Stream& stream, Attention bits);

// A stream without anything to run sees to its timers itself, by the time that it sleeps, and does
// not report them to the reactor: they are unwatched (attention::unwatched). Before its loop runs a
// unit after all, which may keep it busy for any time, it has them watched.
void have_timers_watched(Stream& stream);

// Before it sleeps: everything that is due. Returns whether something was done: then there may be
// work.
bool do_idle_housekeeping(Stream& stream);

// How long an idle stream may sleep; os::forever: until it is woken. It has announced its sleep.
std::uint64_t sleep_limit(Stream& stream);
// After it has slept.
void slept(Stream& stream);

// The stream will call fn(argument) between two units. From anywhere. False: too many calls are
// queued already.
bool post(Stream& stream, void (*call)(void*), void* argument);

// The first poller has come, or the last has gone: notifies all streams whether they must poll.
void note_pollers(Process& of);

// The stream ends: its timers go to stream 0.
void hand_over_timers(Stream& stream);

}   // namespace weft
