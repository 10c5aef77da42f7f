// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A server: one connection of a libtbb. TBB says by deltas how many workers it could use at once,
// and as many work on its jobs; the others wait, and the one that has worked last is the first to
// work again, as TBB expects. A worker is a hosted unit that has one job from its beginning to its
// end: what TBB keeps in thread-local memory stays with the job.
#pragma once

#include <weft/unit.h>

#include "rml.hpp"

namespace weft_tbb {

// A server for that client. Servers are never freed: those that have closed serve other clients.
rml::Server& new_server(rml::Client& client);

// Whether TCM_ENABLE=1 has asked for Intel's thread composability manager, which is left alone.
bool is_managed();

// For weft_domain_ops.idle: the worker has nothing to do.
bool is_idle_worker(const weft_unit* context);

// All workers have ended with the runtime, or do not exist in this child of a fork. Servers make
// others when TBB asks for some next.
void forget_workers();
void forget_workers_in_child();
// Before a fork: waits a moment for workers that have nothing to do to leave TBB.
void settle_for_fork();
// In the child of a fork, before a thread calls TBB: workers that TBB has asked for in the parent,
// and counts on, are made anew.
bool is_new_child();
void begin_anew_in_child();

// While it exists, request_close_connection that this thread calls returns when the connection's
// workers have ended, unless a worker calls it.
class WaitsForClose {
public:
    WaitsForClose();
    ~WaitsForClose();
    WaitsForClose(const WaitsForClose&) = delete;
    WaitsForClose& operator=(const WaitsForClose&) = delete;

private:
    const bool before_;
};

}   // namespace weft_tbb
