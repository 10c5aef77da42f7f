// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/crash.hpp"

#include <gnu/libc-version.h>
#include <signal.h>
#include <sys/utsname.h>

#include "base/assert.hpp"
#include "process/line.hpp"
#include "trace/own_code.hpp"
#include "weft/version.h"

namespace weft {
namespace {

// Written when the runtime begins: a handler only reads them.
trace::OwnCode own_code;
char advice[512];

void write_advice() {
    utsname system{};
    uname(&system);
    Line(advice, sizeof advice)
        << "weft: unless the program ends so without Weft, too, this is a fault of Weft "
        << std::uint64_t{WEFT_VERSION_MAJOR} << "." << std::uint64_t{WEFT_VERSION_MINOR} << "."
        << std::uint64_t{WEFT_VERSION_PATCH} << " (glibc " << gnu_get_libc_version() << ", Linux " << system.release
        << "): please report these lines\n"
           "weft: to run without Weft, leave out `weft run`; `weft run --openmp=native` leaves OpenMP alone\n";
}

const char* name_of_signal(int signal) {
    switch (signal) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGILL: return "SIGILL";
    default: return "a signal";
    }
}

bool describe(int signal, std::uintptr_t code, const void* fault_address, char* text, std::size_t bytes) {
    const trace::OwnCode::Library* const library = own_code.holding(code);
    if (library == nullptr) return false;
    Line line(text, bytes);
    line << "weft: " << name_of_signal(signal) << " in Weft's own code: " << library->path << "+";
    line.hexadecimal(code - library->base) << ", address ";
    line.hexadecimal(reinterpret_cast<std::uintptr_t>(fault_address)) << "\n" << advice;
    return true;
}

}   // namespace

mem::CrashDescribe crash_describe() {
    own_code.find();
    if (!own_code.is_bridged()) return nullptr;
    write_advice();
    fatal_epilogue_set(advice);
    return describe;
}

}   // namespace weft
