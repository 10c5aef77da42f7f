// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "caller.hpp"

#include <link.h>

#include <weft/weft.h>

namespace weft_pthread {

namespace {

// State of a pthread, and so of the hosted units to which it lends its stack, one after another.
// The stack is looked up once, since a host's stack never moves. All of this library's thread-local
// memory is zero-initialized and addressed by the thread pointer alone, so that it may be used at
// any time.
struct Own {
    std::uintptr_t lowest, bytes;   // of the stack; 0: not yet known
    std::uintptr_t handler;         // the frame of the outermost signal handler; 0: none
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Own own{};

std::uintptr_t here_on_stack() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

// A handler may have been left by longjmp: then the caller is not below the handler's frame, or far
// from it on another stack.
constexpr std::uintptr_t deepest_handler = 1 << 20;
bool below_handler(std::uintptr_t place) { return own.handler != 0 && own.handler - place < deepest_handler; }

struct Range {
    std::uintptr_t first = 0, bytes = 0;
};
Range weft_code;

int note_weft(dl_phdr_info* info, std::size_t, void*) {
    const auto inside = reinterpret_cast<std::uintptr_t>(&weft_init);
    for (const ElfW(Phdr)* part = info->dlpi_phdr; part != info->dlpi_phdr + info->dlpi_phnum; ++part) {
        const std::uintptr_t first = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || inside - first >= part->p_memsz) continue;
        weft_code = {first, part->p_memsz};
        return 1;
    }
    return 0;
}

// Weft runs nothing before this constructor.
[[gnu::constructor]] void find_weft() { dl_iterate_phdr(note_weft, nullptr); }

}   // namespace

bool is_weft(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - weft_code.first < weft_code.bytes;
}

bool in_handler() noexcept { return below_handler(here_on_stack()); }

Handling::Handling(const void* frame) noexcept : outermost_(!below_handler(reinterpret_cast<std::uintptr_t>(frame))) {
    if (outermost_) own.handler = reinterpret_cast<std::uintptr_t>(frame);
}

Handling::~Handling() {
    if (outermost_) own.handler = 0;
}

bool may_switch_inside() noexcept {
    const weft_kind kind = weft::here::kind();
    if (kind != WEFT_KIND_HOSTED && kind != WEFT_KIND_FULL) return false;
    const std::uintptr_t place = here_on_stack();
    if (below_handler(place)) return false;
    if (kind == WEFT_KIND_HOSTED && own.bytes != 0) return place - own.lowest < own.bytes;
    weft_stack_info stack{};
    stack.size = sizeof stack;
    if (weft_unit_stack_get(weft::here::unit(), &stack) != WEFT_OK) return false;
    const bool on_it = place - reinterpret_cast<std::uintptr_t>(stack.lowest) < stack.bytes;
    // Weft has no stack to report for a guest, and reports its scheduler's. Whichever of its
    // thread's stacks a guest is on, only that thread resumes it.
    if (kind == WEFT_KIND_FULL) return !on_it;
    own.lowest = reinterpret_cast<std::uintptr_t>(stack.lowest);
    own.bytes = stack.bytes;
    return on_it;
}

}   // namespace weft_pthread
