#include "os/error_text.hpp"

namespace weft::os {
namespace {

// Cold, and never read across a switch by the library itself, so the compiler's own thread-local
// access does here.
thread_local char text[error_text_bytes];

}   // namespace

[[gnu::noinline]] char* error_text() {
    asm volatile("");
    return text;
}

}   // namespace weft::os
