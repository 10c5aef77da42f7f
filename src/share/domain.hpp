// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Domains: harts are lent down the tree, on the stacks of the streams' schedulers, which are the
// transition stacks. A context of a domain is a unit whose pool is the domain's: a context that
// becomes ready is reported to the domain instead of being queued. README.md, "Domains", has the
// rules.
#pragma once

#include <cstddef>
#include <cstdint>

#include "process/domain_state.hpp"

namespace weft {

struct Process;

weft_status register_domain(const weft_domain_ops& ops, void* self, Domain** made, Jobs* jobs = nullptr);
// A domain that no hart is in, below one that lasts, or the base; null: no memory. Such domains go
// with the runtime.
Domain* create_domain(Process& of, Domain* parent, const weft_domain_ops& ops, void* self);
void drop_created(Process& of);
// Before drop_created(), when units have ended: the objects that those domains lead to are gone.
void tell_created_of_end(const Process& of);
// Whether the unit is a context of such a domain, and has nothing to do (weft_domain_ops.idle). At
// the runtime's end.
bool is_idle_context(Process& of, Unit& unit);
weft_status unregister_domain(Domain& domain);
void request_harts(Domain& domain, std::ptrdiff_t delta);

// The domain may have got something to do, and is lent harts again.
void kick(Domain& domain);

// Whether a child of a domain that lends by itself has less than it has asked for.
bool children_want(Domain& domain);
// The last hart has left a domain that is being unregistered: the waiter for that continues in its
// former pool.
void complete(Domain& domain);

// A decision of the callback that runs on the calling hart.
weft_status decide(const Transition& transition);
// The hart goes on with an OS thread of the runtime.
weft_status decide_to_pass();

// A context of the domain whose hart calls.
weft_status make_context(void* stack, std::size_t stack_bytes, const void* site, Unit** made);
void drop_context(Unit& context);   // a context that has never run
weft_status run_context(Unit& context, void (*body)(void*), void* argument);
weft_status resume_context(Unit& context);
// A context that could be resumed is to run next, in place of the running one, which leaves for
// `next`. Null: it leaves for the scheduler, which finds the context.
weft_status take_successor(Stream& stream, Unit& context, Unit*& next);

// From now on the stream's hart is in that domain; null: in none.
void set_domain(Stream& stream, Domain* domain);

// What the hart does while it is in a domain other than that of the scheduler on whose stack this
// runs (Serving::lender); returns when the hart is back.
void serve(Stream& stream);

// The stream was asked to check whose its hart is, and to check the domains that have come to it
// (attention::lent). From the scheduler's stack.
void attend_to_domains(Stream& stream);

}   // namespace weft
