// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the omp_ routines are exported. Each has a name for C and, with a trailing underscore, one
// for Fortran, whose arguments come by reference, in 4 bytes or, with a trailing _8_, in 8. Each is
// exported once more, as any_..., for references without a version, which may mean another runtime
// (others.hpp). The loader binds those references to the first version node of openmp.map, whatever
// else has the name; dlsym and the linker pass over that node, since it is no default version.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>

#include "export.hpp"
#include "others.hpp"
#include "team.hpp"

#define OPENMP_ANY extern "C" __attribute__((used, visibility("default")))
#define OPENMP_ANY_NAMED(name) __asm__(".symver any_" #name "," #name "@WEFT_UNVERSIONED");
#define OPENMP_CALLER __builtin_return_address(0)

// A routine without arguments, in both languages.
#define QUERY(type, name, ...) \
    OPENMP_API type name(){__VA_ARGS__} OPENMP_API type name##_() { return name(); }

// A question about where the calling thread, `me`, is. A versioned caller in a region of ours is
// answered at once; a caller without a version may be in another runtime's region within ours.
#define PLACE_QUERY(name, ...)                                                                          \
    namespace {                                                                                         \
    inline int here_##name(const Thread& me) { __VA_ARGS__ }                                            \
    [[gnu::noinline]] int outside_##name(const void* caller) {                                          \
        const OtherRuntime* const other = others() ? other_around(caller) : nullptr;                    \
        return other != nullptr && other->name != nullptr ? other->name() : here_##name(this_thread()); \
    }                                                                                                   \
    inline int placed_##name(const void* caller, bool ask_others) {                                     \
        const Thread* const me = thread_in_region;                                                      \
        return me != nullptr && !ask_others ? here_##name(*me) : outside_##name(caller);                \
    }                                                                                                   \
    }                                                                                                   \
    OPENMP_API int name() { return placed_##name(nullptr, false); }                                     \
    OPENMP_API int name##_() { return placed_##name(nullptr, false); }

#define ANY_PLACE_QUERY(name)                                                         \
    OPENMP_ANY int any_##name() { return placed_##name(OPENMP_CALLER, others()); }    \
    OPENMP_ANY int any_##name##_() { return placed_##name(OPENMP_CALLER, others()); } \
    OPENMP_ANY_NAMED(name) OPENMP_ANY_NAMED(name##_)

// A question about what the next region of the calling thread would get.
#define SETTING_QUERY(name, ...)                                                          \
    QUERY(int, name, __VA_ARGS__)                                                         \
    namespace {                                                                           \
    inline int asked_##name(const void* caller) {                                         \
        const OtherRuntime* const other = others() ? other_of_settings(caller) : nullptr; \
        return other != nullptr && other->name != nullptr ? other->name() : name();       \
    }                                                                                     \
    }                                                                                     \
    OPENMP_ANY int any_##name() { return asked_##name(OPENMP_CALLER); }                   \
    OPENMP_ANY int any_##name##_() { return asked_##name(OPENMP_CALLER); }                \
    OPENMP_ANY_NAMED(name) OPENMP_ANY_NAMED(name##_)

// A routine that takes a number.
#define OF_NUMBER(type, name, ...)                                                                    \
    OPENMP_API type name(int value){__VA_ARGS__} OPENMP_API type name##_(const std::int32_t* value) { \
        return name(*value);                                                                          \
    }                                                                                                 \
    OPENMP_API type name##_8_(const std::int64_t* value) {                                            \
        return name(static_cast<int>(std::clamp<std::int64_t>(*value, INT_MIN, INT_MAX)));            \
    }

// A question about an ancestor of the calling thread, `me`, at a level of nesting, `value`.
#define ANCESTOR_QUERY(name, ...)                                                                                      \
    namespace {                                                                                                        \
    inline int here_##name(const Thread& me, int value) { __VA_ARGS__ }                                                \
    int placed_##name(int value, const void* caller, bool ask_others) {                                                \
        const Thread* const me = thread_in_region;                                                                     \
        if (me != nullptr && !ask_others) return here_##name(*me, value);                                              \
        const OtherRuntime* const other = others() ? other_around(caller) : nullptr;                                   \
        return other != nullptr && other->name != nullptr ? other->name(value) : here_##name(this_thread(), value);    \
    }                                                                                                                  \
    }                                                                                                                  \
    OF_NUMBER(int, name, return placed_##name(value, nullptr, false);)                                                 \
    OPENMP_ANY int any_##name(int value) { return placed_##name(value, OPENMP_CALLER, others()); }                     \
    OPENMP_ANY int any_##name##_(const std::int32_t* value) { return placed_##name(*value, OPENMP_CALLER, others()); } \
    OPENMP_ANY_NAMED(name) OPENMP_ANY_NAMED(name##_)

// A setter.
#define SETTER(name, ...)                                                                               \
    namespace {                                                                                         \
    void set_##name(int value) { __VA_ARGS__ }                                                          \
    bool set_in_others_##name(const void* caller, int value) {                                          \
        return set_in_others(                                                                           \
            caller,                                                                                     \
            [](const OtherRuntime& other, const void* argument) {                                       \
                if (other.name != nullptr) other.name(*static_cast<const int*>(argument));              \
            },                                                                                          \
            &value);                                                                                    \
    }                                                                                                   \
    void set_any_##name(const void* caller, int value) {                                                \
        if (set_in_others_##name(caller, value)) set_##name(value);                                     \
    }                                                                                                   \
    }                                                                                                   \
    OF_NUMBER(void, name, set_##name(value);                                                            \
              if (others() && thread_in_region == nullptr) set_in_others_##name(nullptr, value);)       \
    OPENMP_ANY void any_##name(int value) { set_any_##name(OPENMP_CALLER, value); }                     \
    OPENMP_ANY void any_##name##_(const std::int32_t* value) { set_any_##name(OPENMP_CALLER, *value); } \
    OPENMP_ANY_NAMED(name) OPENMP_ANY_NAMED(name##_)
