// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The existing pools and schedulers: how they are made by default, and their lists.
#pragma once

#include "pool/pool.hpp"
#include "sched/sched.hpp"

namespace weft {

struct Process;

// A built-in pool, not yet listed; null: no memory.
Pool* make_pool(Process& of, weft_pool_kind kind, weft_pool_access access = WEFT_POOL_ACCESS_DEFAULT);

// A pool or a scheduler joins the list, or leaves it and is freed.
void enlist(Process& of, Pool& pool);
void dismiss(Process& of, Pool& pool);
void enlist(Process& of, Sched& sched);
void dismiss(Process& of, Sched& sched);

// At the runtime's end: frees the dismissed pools, whose memory has stayed.
void drop_freed_pools(Process& of);

// A main pool for a stream that was given none; null: no memory. It belongs to the runtime.
Pool* make_owned_pool(Process& of, weft_pool_kind kind);
weft_pool_kind default_pool_kind(const Process& of);
// The pool kind for a program that asks for `kind` and promises nothing: one that other streams may
// draw from, where rescue is to help all.
weft_pool_kind given_for(const Process& of, weft_pool_kind kind);

// A scheduler as the settings say, for a stream whose main pool is `main`.
Sched* default_sched(Process& of, Pool& main);

}   // namespace weft
