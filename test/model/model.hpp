// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the models share: how to search, and what a control is.
//
// holds<Suite>: no interleaving of the suite may fail. fails<Suite>: a control, in which one order
// or one step has been weakened on purpose; the search must find the fault, or the model proves
// nothing.
//
// What Relacy does not show: a thread's own accesses run in program order, so a load that is
// overtaken by a later store, as AArch64 allows, is not among the interleavings; and a relaxed
// store by the same thread continues a release sequence, as it did before C++20. The orders that
// only these cases need (DequeOrders::push_top, the last store of Deque::pop_bottom) rest on their
// comments.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace weft::model {

// An element of a queue: the slot that links it, and what the pusher has written before it pushed.
struct Node {
    atomic<Node*> link{nullptr};
    plain<int> value{0};

    atomic<Node*>& atomic_link() { return link; }
};

// How to search. Each strategy is a type, so that a suite is compiled only for the schedulers that
// it uses.
struct All {   // every interleaving
    template <rl::thread_id_t threads>
    using Scheduler = rl::full_search_scheduler<threads>;
    void prepare(rl::test_params& parameters) const { parameters.search_type = rl::sched_full; }
    void say(char* text, std::size_t size) const { std::snprintf(text, size, "all interleavings"); }
};

struct Preemptions {   // every interleaving with at most so many preemptions of a thread that could go on
    unsigned count;
    template <rl::thread_id_t threads>
    using Scheduler = rl::context_bound_scheduler<threads>;
    void prepare(rl::test_params& parameters) const {
        parameters.search_type = rl::sched_bound;
        parameters.context_bound = count;
    }
    void say(char* text, std::size_t size) const { std::snprintf(text, size, "all with %u preemptions", count); }
};

struct Random {   // reads older values than the others do, too
    std::uint64_t iterations;
    template <rl::thread_id_t threads>
    using Scheduler = rl::random_scheduler<threads>;
    void prepare(rl::test_params& parameters) const {
        parameters.search_type = rl::sched_random;
        parameters.iteration_count = iterations;
    }
    void say(char* text, std::size_t size) const { std::snprintf(text, size, "random, seeds from 0"); }
};

// Relacy replaces operator new: what outlives an iteration uses its own streams and no std::string.
class Models {
public:
    // The argument "full" asks for deeper searches.
    Models(int count, char** arguments) : full_(count > 1 && std::strcmp(arguments[1], "full") == 0) {}

    bool full() const { return full_; }

    template <class Suite, class Search>
    void holds(const char* name, Search search) {
        rl::ostringstream told;
        const rl::test_params parameters = run<Suite>(search, told);
        const bool good = parameters.test_result == rl::test_result_success;
        say(name, search, parameters, good ? "holds" : "BROKEN");
        if (!good) std::cout << told.str().substr(0, 6'000) << std::endl;   // the history, or its beginning
        if (!good) ++failures_;
    }

    template <class Suite, class Search>
    void fails(const char* name, Search search) {
        rl::ostringstream told;
        const rl::test_params parameters = run<Suite>(search, told);
        const bool found = parameters.test_result != rl::test_result_success;
        say(name, search, parameters, found ? "control, found" : "CONTROL NOT FOUND");
        if (!found) ++failures_;
    }

    int result() const { return failures_ == 0 ? EXIT_SUCCESS : EXIT_FAILURE; }

private:
    // rl::simulate, for one scheduler: searches, and repeats a failure to record its history.
    template <class Suite, class Search>
    static rl::test_params run(Search search, rl::ostringstream& told) {
        using Scheduler = typename Search::template Scheduler<Suite::params::thread_count>;
        rl::ostringstream progress, state;
        rl::test_params parameters;
        parameters.output_stream = &told;
        parameters.progress_stream = &progress;
        parameters.execution_depth_limit = 4000;
        parameters.iteration_count = ~std::uint64_t{0} >> 1;
        search.prepare(parameters);
        if (rl::run_test<Suite, Scheduler>(parameters, state, false) != rl::test_result_success) {
            parameters.initial_state = state.str();
            parameters.collect_history = true;
            rl::run_test<Suite, Scheduler>(parameters, state, true);
        }
        return parameters;
    }

    template <class Search>
    static void say(const char* name, Search search, const rl::test_params& parameters, const char* outcome) {
        char how[64];
        search.say(how, sizeof how);
        const bool failed = parameters.test_result != rl::test_result_success;
        std::printf("%-17s %-52s %s, %llu searched%s%s\n", outcome, name, how,
                    static_cast<unsigned long long>(parameters.stop_iteration) + 1, failed ? ": " : "",
                    failed ? rl::test_result_str(parameters.test_result) : "");
        std::fflush(stdout);
    }

    bool full_;
    int failures_ = 0;
};

// Defined by each model: what holds, and what must fail.
void search(Models& models);

}   // namespace weft::model

int main(int count, char** arguments) {
    weft::model::Models models(count, arguments);
    weft::model::search(models);
    return models.result();
}
