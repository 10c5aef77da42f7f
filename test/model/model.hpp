// What the models share: how to search, and what a control is.
//
// holds<Suite>: no interleaving of the suite may fail. fails<Suite>: a control, in which one order or one step has
// been weakened on purpose; the search must find the fault, or the model proves nothing.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace weft::model {

// Of a structure's queue: the slot that links it, and what the pusher has written before it pushed.
struct Node {
    atomic<Node*> link{nullptr};
    plain<int> value{0};

    atomic<Node*>& atomic_link() { return link; }
};

struct Search {
    rl::scheduler_type_e kind;
    std::uint64_t iterations = 0;   // of a random search
    unsigned bound = 0;             // of a bounded search: how often a thread may be preempted

    static Search all() { return {rl::sched_full, ~std::uint64_t{0} >> 1}; }
    static Search preemptions(unsigned count) { return {rl::sched_bound, ~std::uint64_t{0} >> 1, count}; }
    static Search random(std::uint64_t iterations) { return {rl::sched_random, iterations}; }
};

// Relacy replaces operator new: what outlives an iteration uses its own streams and no std::string.
class Models {
public:
    // The argument "full" asks for deeper searches.
    Models(int count, char** arguments) : full_(count > 1 && std::strcmp(arguments[1], "full") == 0) {}

    bool full() const { return full_; }

    template <class Suite>
    void holds(const char* name, Search search) {
        rl::test_params parameters = prepare(search);
        rl::ostringstream told;
        parameters.output_stream = &told;
        rl::simulate<Suite>(parameters);
        const bool good = parameters.test_result == rl::test_result_success;
        say(name, search, parameters, good ? "holds" : "BROKEN");
        if (!good) std::cout << told.str().substr(0, 12'000) << std::endl;   // the history, or its beginning
        if (!good) ++failures_;
    }

    template <class Suite>
    void fails(const char* name, Search search) {
        rl::test_params parameters = prepare(search);
        rl::ostringstream told;
        parameters.output_stream = &told;
        rl::simulate<Suite>(parameters);
        const bool found = parameters.test_result != rl::test_result_success;
        say(name, search, parameters, found ? "control, found" : "CONTROL NOT FOUND");
        if (!found) ++failures_;
    }

    int result() const { return failures_ == 0 ? EXIT_SUCCESS : EXIT_FAILURE; }

private:
    rl::test_params prepare(const Search& search) {
        rl::test_params parameters;
        parameters.search_type = search.kind;
        parameters.iteration_count = search.iterations;
        parameters.context_bound = search.bound;
        parameters.progress_stream = &progress_;
        parameters.execution_depth_limit = 4000;
        return parameters;
    }

    void say(const char* name, const Search& search, const rl::test_params& parameters, const char* outcome) {
        progress_.str("");
        char how[64];
        if (search.kind == rl::sched_full) std::snprintf(how, sizeof how, "all interleavings");
        if (search.kind == rl::sched_bound) std::snprintf(how, sizeof how, "all with %u preemptions", search.bound);
        if (search.kind == rl::sched_random) std::snprintf(how, sizeof how, "random, seeds from 0");
        std::printf("%-16s %-64s %s, %llu searched%s%s\n", outcome, name, how,
                    static_cast<unsigned long long>(parameters.stop_iteration) + 1,
                    parameters.test_result == rl::test_result_success ? "" : ": ",
                    parameters.test_result == rl::test_result_success ? "" : rl::test_result_str(parameters.test_result));
        std::fflush(stdout);
    }

    rl::ostringstream progress_;
    bool full_;
    int failures_ = 0;
};

}  // namespace weft::model
