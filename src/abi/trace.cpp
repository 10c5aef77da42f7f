#include "weft/trace.h"

#include "abi/convert.hpp"
#include "stream/dump.hpp"
#include "stream/list.hpp"

using namespace weft;

extern "C" {

weft_status weft_counter_read(const char* name, uint64_t* value) noexcept {
    if (name == nullptr || value == nullptr) return is_null(name == nullptr ? "name" : "value");
    Runtime* of = runtime_or_null();
    return of == nullptr ? not_initialized() : read_counter(*of, name, value);
}

weft_status weft_counters_print(FILE* file) noexcept {
    if (file == nullptr) return is_null("file");
    Runtime* of = runtime_or_null();
    if (of == nullptr) return not_initialized();
    print_counters(*of, file);
    return WEFT_OK;
}

weft_status weft_units_print(FILE* file) noexcept {
    if (file == nullptr) return is_null("file");
    Runtime* of = runtime_or_null();
    if (of == nullptr) return not_initialized();
    print_units(*of, file);
    return WEFT_OK;
}

weft_status weft_dump(FILE* file) noexcept {
    if (file == nullptr) return is_null("file");
    Runtime* of = runtime_or_null();
    return of == nullptr ? not_initialized() : dump_to(*of, file);
}

}  // extern "C"
