// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/trace.h"

#include <cstring>

#include "abi/convert.hpp"
#include "inspect/dump.hpp"
#include "inspect/list.hpp"
#include "observe/observe.hpp"
#include "trace/added.hpp"
#include "trace/describers.hpp"

using namespace weft;

extern "C" {

weft_status weft_counter_read(const char* name, uint64_t* value) noexcept {
    if (name == nullptr || value == nullptr) return is_null(name == nullptr ? "name" : "value");
    if (const trace::Added* one = trace::find_added(name)) {
        *value = one->read(one->argument);
        return WEFT_OK;
    }
    Process* of = process_or_null();
    return of == nullptr ? not_initialized() : read_counter(*of, name, value);
}

weft_status weft_counter_register(const char* name, uint64_t (*read)(void* argument), void* argument) noexcept {
    if (name == nullptr || read == nullptr) return is_null(name == nullptr ? "name" : "read");
    if (*name != '/' || std::strpbrk(name, "\t\n{}") != nullptr) {
        return fail(WEFT_INVALID,
                    "the counter '%.100s' cannot be added: a name begins with / and has no tab, end of line or brace",
                    name);
    }
    const trace::Addition result =
        is_own_counter(name) ? trace::Addition::known : trace::add_counter(name, read, argument);
    if (result == trace::Addition::known) return fail(WEFT_INVALID, "there is a counter '%.100s' already", name);
    return result == trace::Addition::no_memory ? fail(WEFT_NO_MEMORY, "no memory for the counter '%.100s'", name)
                                                : WEFT_OK;
}

weft_status weft_counters_print(FILE* file) noexcept {
    if (file == nullptr) return is_null("file");
    Process* of = process_or_null();
    if (of == nullptr) return not_initialized();
    print_counters(*of, file);
    return WEFT_OK;
}

weft_status weft_units_print(FILE* file) noexcept {
    if (file == nullptr) return is_null("file");
    Process* of = process_or_null();
    if (of == nullptr) return not_initialized();
    print_units(*of, file);
    return WEFT_OK;
}

weft_status weft_dump(FILE* file) noexcept {
    if (file == nullptr) return is_null("file");
    Process* of = process_or_null();
    return of == nullptr ? not_initialized() : dump_to(*of, file);
}

weft_status weft_unit_dump(const weft_unit* unit, FILE* file) noexcept {
    if (unit == nullptr || file == nullptr) return is_null(unit == nullptr ? "unit" : "file");
    Process* of = process_or_null();
    if (of == nullptr) return not_initialized();
    // Not to_unit(): a unit that has been freed is searched for as well, and not found.
    const auto address = reinterpret_cast<std::uintptr_t>(unit) & ((std::uintptr_t{1} << generation_shift) - 1);
    return dump_to(*of, file, reinterpret_cast<const Unit*>(address));
}

weft_status weft_describer_register(void (*describe)(const weft_description* of, void* argument),
                                    void* argument) noexcept {
    if (describe == nullptr) return is_null("describe");
    return trace::add_describer(describe, argument) ? WEFT_OK : fail(WEFT_NO_MEMORY, "no memory for a describer");
}

weft_status weft_observer_register(const weft_observer_options* options, weft_observer** observer) noexcept {
    if (options == nullptr || observer == nullptr) return is_null(options == nullptr ? "options" : "observer");
    Process* of = process_or_null();
    if (of == nullptr) return not_initialized();
    if (options->size < sizeof(weft_observer_options) || options->size > 4096) {
        return fail(WEFT_INVALID, "weft_observer_options.size is %zu; set it to sizeof(weft_observer_options)",
                    options->size);
    }
    if (options->call == nullptr) return is_null("call");
    if (options->events == 0 || (options->events & ~static_cast<unsigned>(WEFT_OBSERVED_ALL)) != 0) {
        return fail(WEFT_INVALID, "the events are 0x%x; legal are bits of WEFT_OBSERVED_ALL (0x%x), at least one",
                    options->events, static_cast<unsigned>(WEFT_OBSERVED_ALL));
    }
    Observer* added;
    const weft_status status = add_observer(*of, {options->events, options->call, options->argument}, &added);
    if (status == WEFT_OK) *observer = reinterpret_cast<weft_observer*>(added);
    return status;
}

weft_status weft_observer_unregister(weft_observer* observer) noexcept {
    if (observer == nullptr) return is_null("observer");
    Process* of = process_or_null();
    return of == nullptr ? not_initialized() : remove_observer(*of, *reinterpret_cast<Observer*>(observer));
}

}   // extern "C"
