// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages that end the process, in libgomp's words where libgomp has a message, since scripts
// search for it.
#pragma once

#include <string_view>

#include <weft/status.h>

namespace weft_openmp {

// Prints "\nlibgomp: " and the text as printf does, and ends the process with status 1.
[[noreturn, gnu::format(printf, 1, 2)]] void fatal_error(const char* format, ...);
// Prints as fatal_error does, and returns.
[[gnu::format(printf, 1, 2)]] void complain(const char* format, ...);
// Prints a text of any length, which may hold any bytes.
void complain_of(std::string_view what, std::string_view text);
// Says what could not be done, and Weft's reason.
[[noreturn]] void fatal(const char* what, weft_status status);
// As fatal(), where no thread could be had: in libgomp's words if the system has refused it.
[[noreturn]] void fatal_no_thread(weft_status status);

}   // namespace weft_openmp
