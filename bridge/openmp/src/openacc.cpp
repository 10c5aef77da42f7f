// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenACC: its regions run on the host and share its memory, so data directives move nothing, and
// all asynchronous work is done at once.
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "export.hpp"
#include "fatal.hpp"

using namespace weft_openmp;   // NOLINT: entry points

namespace {

enum : int { none = 0, by_default = 1, host = 2, not_host = 4 };
enum : int { property_name = 0x10001, property_vendor = 0x10002 };

void* same(void* memory) { return memory; }

}   // namespace

OPENMP_API void GOACC_parallel_keyed(int, void (*body)(void*), std::size_t, void** addresses, std::size_t*,
                                     unsigned short*, ...) {
    body(addresses);
}
OPENMP_API void GOACC_parallel(int, void (*body)(void*), std::size_t, void** addresses, std::size_t*, unsigned short*,
                               int, int, int, int, int, ...) {
    body(addresses);
}
OPENMP_API void GOACC_data_start(int, std::size_t, void**, std::size_t*, unsigned short*) {}
OPENMP_API void GOACC_data_end() {}
OPENMP_API void GOACC_enter_exit_data(int, std::size_t, void**, std::size_t*, unsigned short*, int, int, ...) {}
OPENMP_API void GOACC_enter_data(int, std::size_t, void**, std::size_t*, unsigned short*, int, int, ...) {}
OPENMP_API void GOACC_exit_data(int, std::size_t, void**, std::size_t*, unsigned short*, int, int, ...) {}
OPENMP_API void GOACC_update(int, std::size_t, void**, std::size_t*, unsigned short*, int, int, ...) {}
OPENMP_API void GOACC_declare(int, std::size_t, void**, std::size_t*, unsigned short*) {}
OPENMP_API void GOACC_wait(int, int, ...) {}
OPENMP_API int GOACC_get_num_threads() { return 1; }
OPENMP_API int GOACC_get_thread_num() { return 0; }

OPENMP_API int acc_get_num_devices(int type) { return type == host || type == by_default ? 1 : 0; }
OPENMP_API int acc_get_num_devices_h_(const std::int32_t* type) { return acc_get_num_devices(*type); }
OPENMP_API void acc_set_device_type(int type) {
    if (type > host) fatal_error("device type %d not supported", type);
}
OPENMP_API void acc_set_device_type_h_(const std::int32_t* type) { acc_set_device_type(*type); }
OPENMP_API int acc_get_device_type() { return host; }
OPENMP_API int acc_get_device_type_h_() { return host; }
OPENMP_API void acc_set_device_num(int number, int type) {
    acc_set_device_type(type);
    if (number > 0) fatal_error("device %d out of range", number);
}
OPENMP_API void acc_set_device_num_h_(const std::int32_t* number, const std::int32_t* type) {
    acc_set_device_num(*number, *type);
}
OPENMP_API int acc_get_device_num(int) { return 0; }
OPENMP_API int acc_get_device_num_h_(const std::int32_t*) { return 0; }
OPENMP_API std::size_t acc_get_property(int, int, int) { return 0; }
OPENMP_API std::size_t acc_get_property_h_(const std::int32_t*, const std::int32_t*, const std::int32_t*) { return 0; }
OPENMP_API const char* acc_get_property_string(int, int, int property) {
    if (property == property_name) return "host";
    if (property == property_vendor) return "Weft";
    return nullptr;
}
// For Fortran: a text of `length` characters, filled up with blanks.
OPENMP_API void acc_get_property_string_h_(const std::int32_t*, const std::int32_t*, const std::int32_t* property,
                                           char* text, std::size_t length) {
    const char* const value = acc_get_property_string(0, host, *property);
    std::memset(text, ' ', length);
    if (value != nullptr) std::memcpy(text, value, std::strlen(value) < length ? std::strlen(value) : length);
}

OPENMP_API void acc_init(int type) { acc_set_device_type(type); }
OPENMP_API void acc_init_h_(const std::int32_t* type) { acc_init(*type); }
OPENMP_API void acc_shutdown(int) {}
OPENMP_API void acc_shutdown_h_(const std::int32_t*) {}
OPENMP_API int acc_on_device(int type) { return type == host || type == none ? 1 : 0; }
OPENMP_API int acc_on_device_h_(const std::int32_t* type) { return acc_on_device(*type); }

OPENMP_API int acc_async_test(int) { return 1; }
OPENMP_API int acc_async_test_all() { return 1; }
OPENMP_API int acc_async_test_h_(const std::int32_t*) { return 1; }
OPENMP_API int acc_async_test_all_h_() { return 1; }
OPENMP_API void acc_wait(int) {}
OPENMP_API void acc_async_wait(int) {}
OPENMP_API void acc_wait_async(int, int) {}
OPENMP_API void acc_wait_all() {}
OPENMP_API void acc_async_wait_all() {}
OPENMP_API void acc_wait_all_async(int) {}
OPENMP_API void acc_wait_h_(const std::int32_t*) {}
OPENMP_API void acc_wait_async_h_(const std::int32_t*, const std::int32_t*) {}
OPENMP_API void acc_wait_all_h_() {}
OPENMP_API void acc_wait_all_async_h_(const std::int32_t*) {}

OPENMP_API void* acc_malloc(std::size_t bytes) { return std::malloc(bytes); }
OPENMP_API void acc_free(void* memory) { std::free(memory); }
OPENMP_API void* acc_deviceptr(void* memory) { return same(memory); }
OPENMP_API void* acc_hostptr(void* memory) { return same(memory); }
OPENMP_API void acc_map_data(void*, void*, std::size_t) {}
OPENMP_API void acc_unmap_data(void*) {}
OPENMP_API int acc_is_present(void* memory, std::size_t bytes) { return memory != nullptr && bytes != 0 ? 1 : 0; }
OPENMP_API int acc_is_present_32_h_(void* memory, const std::int32_t* bytes) {
    return acc_is_present(memory, static_cast<std::size_t>(*bytes));
}
OPENMP_API int acc_is_present_64_h_(void* memory, const std::int64_t* bytes) {
    return acc_is_present(memory, static_cast<std::size_t>(*bytes));
}
OPENMP_API int acc_is_present_array_h_(void* memory) { return memory != nullptr ? 1 : 0; }
OPENMP_API void acc_memcpy_to_device(void* to, void* from, std::size_t bytes) { std::memmove(to, from, bytes); }
OPENMP_API void acc_memcpy_from_device(void* to, void* from, std::size_t bytes) { std::memmove(to, from, bytes); }
OPENMP_API void acc_memcpy_to_device_async(void* to, void* from, std::size_t bytes, int) {
    std::memmove(to, from, bytes);
}
OPENMP_API void acc_memcpy_from_device_async(void* to, void* from, std::size_t bytes, int) {
    std::memmove(to, from, bytes);
}

// Routines that make data present and return where it is; routines that only move it; each for C
// and for Fortran's numbers and arrays.
#define FORTRAN(name)                                           \
    OPENMP_API void name##_32_h_(void*, const std::int32_t*) {} \
    OPENMP_API void name##_64_h_(void*, const std::int64_t*) {} \
    OPENMP_API void name##_array_h_(void*) {}
#define FORTRAN_ASYNC(name)                                                                \
    OPENMP_API void name##_async_32_h_(void*, const std::int32_t*, const std::int32_t*) {} \
    OPENMP_API void name##_async_64_h_(void*, const std::int64_t*, const std::int32_t*) {} \
    OPENMP_API void name##_async_array_h_(void*, const std::int32_t*) {}
#define PRESENT(name) \
    OPENMP_API void* name(void* memory, std::size_t) { return same(memory); }
#define MOVED(name)                             \
    OPENMP_API void name(void*, std::size_t) {} \
    FORTRAN(name)
#define ASYNC(name)                                          \
    OPENMP_API void name##_async(void*, std::size_t, int) {} \
    FORTRAN_ASYNC(name)
// Each line has the forms of one routine.
// clang-format off
PRESENT(acc_copyin) FORTRAN(acc_copyin) ASYNC(acc_copyin)
PRESENT(acc_present_or_copyin) FORTRAN(acc_present_or_copyin)
PRESENT(acc_pcopyin)
PRESENT(acc_create) FORTRAN(acc_create) ASYNC(acc_create)
PRESENT(acc_present_or_create) FORTRAN(acc_present_or_create)
PRESENT(acc_pcreate)
MOVED(acc_copyout) ASYNC(acc_copyout)
MOVED(acc_copyout_finalize)
MOVED(acc_delete) ASYNC(acc_delete)
MOVED(acc_delete_finalize)
MOVED(acc_update_device) ASYNC(acc_update_device)
MOVED(acc_update_self) ASYNC(acc_update_self)
    // clang-format on
    OPENMP_API void acc_copyout_finalize_async(void*, std::size_t, int) {}
OPENMP_API void acc_delete_finalize_async(void*, std::size_t, int) {}
OPENMP_API void acc_attach(void**) {}
OPENMP_API void acc_attach_async(void**, int) {}
OPENMP_API void acc_detach(void**) {}
OPENMP_API void acc_detach_async(void**, int) {}
OPENMP_API void acc_detach_finalize(void**) {}
OPENMP_API void acc_detach_finalize_async(void**, int) {}

OPENMP_API void* acc_get_current_cuda_device() { return nullptr; }
OPENMP_API void* acc_get_current_cuda_context() { return nullptr; }
OPENMP_API void* acc_get_cuda_stream(int) { return nullptr; }
OPENMP_API int acc_set_cuda_stream(int, void*) { return 0; }

// Profiling: there are no events to notify a tool of.
OPENMP_API void acc_prof_register(int, void (*)(), int) {}
OPENMP_API void acc_prof_unregister(int, void (*)(), int) {}
OPENMP_API void (*acc_prof_lookup(const char*))() { return nullptr; }
OPENMP_API void acc_register_library(void (*)(), void (*)(), void* (*)(const char*)) {}

// ---- what plugins for devices call, which are never loaded here ---------------------------------

OPENMP_API void* GOMP_PLUGIN_malloc(std::size_t bytes) {
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) fatal_error("Out of memory allocating %zu bytes", bytes);
    return memory;
}
OPENMP_API void* GOMP_PLUGIN_malloc_cleared(std::size_t bytes) {
    void* const memory = std::calloc(1, bytes);
    if (memory == nullptr) fatal_error("Out of memory allocating %zu bytes", bytes);
    return memory;
}
OPENMP_API void* GOMP_PLUGIN_realloc(void* old, std::size_t bytes) {
    void* const memory = std::realloc(old, bytes);
    if (memory == nullptr) fatal_error("Out of memory allocating %zu bytes", bytes);
    return memory;
}
OPENMP_API void GOMP_PLUGIN_debug(int, const char*, ...) {}
OPENMP_API __attribute__((format(printf, 1, 2))) void GOMP_PLUGIN_error(const char* format, ...) {
    char text[512];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    complain("%s", text);
}
OPENMP_API __attribute__((format(printf, 1, 2))) void GOMP_PLUGIN_fatal(const char* format, ...) {
    char text[512];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fatal_error("%s", text);
}
OPENMP_API void* GOMP_PLUGIN_acc_thread() { return nullptr; }
OPENMP_API void* GOMP_PLUGIN_goacc_thread() { return nullptr; }
OPENMP_API int GOMP_PLUGIN_acc_default_dim(unsigned) { return 1; }
OPENMP_API void GOMP_PLUGIN_async_unmap_vars(void*, int) {}
OPENMP_API void GOMP_PLUGIN_target_task_completion(void*) {}
OPENMP_API bool GOMP_PLUGIN_goacc_profiling_dispatch(void*, void*, void*) { return false; }
