// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TBB's resource management layer (RML): the interface by which libtbb.so.12 asks another library
// for its workers. The order of the virtual functions is the contract (Itanium C++ ABI), and
// nothing else is checked by anyone: libtbb finds four functions by their names (factory.cpp), and
// calls a server through its table; the server calls libtbb through the client's.
//
// The classes are not in an unnamed namespace: a compiler that sees that no class derives from the
// client removes calls of its functions.
#pragma once

#include <cstddef>

namespace weft_tbb::rml {

// What TBB keeps for one worker: to be used by one thread, which stays the same.
struct Job;

// TBB, which wants workers.
class Client {
public:
    virtual ~Client() = default;
    virtual unsigned version() const = 0;
    // how many jobs there may be at most, during the client's life
    virtual unsigned max_job_count() const = 0;
    virtual std::size_t min_stack_size() const = 0;
    virtual Job* create_one_job() = 0;
    // No call follows, and the client is gone when this returns.
    virtual void acknowledge_close_connection() = 0;
    virtual void cleanup(Job& job) = 0;
    // Works until TBB needs no such worker. To be called for as many jobs at once as the sum of the
    // server's deltas says.
    virtual void process(Job& job) = 0;
};

// The library that has the workers.
class Server {
public:
    virtual ~Server() = default;
    virtual unsigned version() const = 0;
    // From anywhere, also within process().
    virtual void request_close_connection(bool exiting) = 0;
    virtual void yield() = 0;
    virtual void independent_thread_number_changed(int delta) = 0;
    virtual unsigned default_concurrency() const = 0;
    // So many workers more are wanted than before, or fewer. From anywhere, also within process().
    virtual void adjust_job_count_estimate(int delta) = 0;
};

// libtbb's own record of the library; it fills it in.
struct Factory;

}   // namespace weft_tbb::rml
