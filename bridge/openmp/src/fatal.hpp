// What ends the process: the words are libgomp's where libgomp says something, since scripts look
// for them.
#pragma once

#include <string_view>

#include <weft/status.h>

namespace weft_openmp {

// Prints "\nlibgomp: " and the text as printf does, and ends the process with status 1.
[[noreturn, gnu::format(printf, 1, 2)]] void fatal_error(const char* format, ...);
// Prints as that does, and goes on.
[[gnu::format(printf, 1, 2)]] void complain(const char* format, ...);
// A text that may be as long as it wants to, and hold any bytes.
void complain_of(std::string_view what, std::string_view text);
// What could not be done, and what Weft said of it.
[[noreturn]] void fatal(const char* what, weft_status status);
// As fatal(), where a thread could not be had: in libgomp's words if the system has refused it.
[[noreturn]] void fatal_no_thread(weft_status status);

}   // namespace weft_openmp
