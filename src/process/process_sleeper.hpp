// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sleeper of something that a process has one of: waking it makes a call, which finds the
// process through it.
#pragma once

#include "hart/idle_list.hpp"

namespace weft {

struct Process;

struct ProcessSleeper : Sleeper {
    Process& of;

    ProcessSleeper(Process& process, Call call) : Sleeper(call), of(process) {}
    static Process& process_of(Sleeper& self) { return static_cast<ProcessSleeper&>(self).of; }
};

}   // namespace weft
