// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model visits every interleaving anyway: its probes do nothing.
#pragma once

namespace weft {

enum class Probe : unsigned char {
    steal_before_claim,
    pop_before_claim,
    fifo_push_before_link,
    join_after_pool,
    move_before_pool,
    word_busy,
    job_before_wake,
    revoke_before_barrier,
    declined_before_look,
    unwatched_before_look,
};

inline void probe(Probe) {}

}   // namespace weft
