// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run in a process of its own, and its result.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "os/sim/machine.hpp"
#include "os/sim/strategy.hpp"

namespace weft::sim {

struct Plan {
    Limits limits;
    unsigned most_seconds = 60;
    std::function<std::unique_ptr<Strategy>()> strategy;
};

struct Outcome {
    bool failed = false;
    std::string kind;     // a word or two: the same for runs that fail in the same way
    std::string text;     // what is wrong, in lines
    std::string output;   // what the run has printed
    std::uint64_t steps = 0;
    std::uint64_t faults_asked = 0;
    std::vector<Deviation> deviations;
    bool all_deviations = true;
};

// Where runs are recorded; shared with the children. One run at a time.
class Recorder {
public:
    Recorder();
    ~Recorder();
    Recorder(const Recorder&) = delete;

    // Null: there was no memory for it.
    const Record* record() const { return record_; }
    Outcome run(const Plan& plan, const std::function<void()>& body);

private:
    Record* record_;
    int output_;
};

// The table of steps of the run that was recorded last, with Limits::trace: its last `most` lines.
std::string table_of(const Record& record, std::size_t most);

}   // namespace weft::sim
