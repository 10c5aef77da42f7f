// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Leagues of teams, one after the other, and the routines for devices: the host is the only device.
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "devices.hpp"
#include "fatal.hpp"
#include "routine.hpp"
#include "team.hpp"

using namespace weft_openmp;   // NOLINT: entry points

namespace {

// From now on the calling thread's team of one is that team of the league, and its task is the
// initial task there.
void begin_team(League league) {
    const Thread& me = this_thread();
    me.team->league = league;
    me.task->icv = me.team->of_league;
}

}   // namespace

// In a target region: the calls of each team come one after the other.
OPENMP_API void GOMP_teams(unsigned, unsigned thread_limit) {
    const Thread& me = this_thread();
    me.team->of_league = limited(me.task->icv, thread_limit);
    begin_team({});
}
// Called before each team of the league; false: there is no other.
OPENMP_API bool GOMP_teams4(unsigned, unsigned most, unsigned thread_limit, bool first) {
    Thread& me = this_thread();
    if (first) {
        GOMP_teams(0, thread_limit);
        me.team->league.teams = std::max(most, 1U);
        return true;
    }
    meet(me);   // a team's tasks have all ended before the next team begins
    const League league = me.team->league;
    const bool more = league.number + 1 != league.teams;
    if (more) begin_team({league.number + 1, league.teams});
    return more;
}
OPENMP_API void GOMP_teams_reg(void (*body)(void*), void* data, unsigned count, unsigned thread_limit, unsigned) {
    const Environment& said = environment();
    // libgomp's default on the host
    if (count == 0) count = said.teams != 0 ? static_cast<unsigned>(said.teams) : 3;
    if (thread_limit == 0) thread_limit = static_cast<unsigned>(said.teams_thread_limit);
    const Icv* const icv = limited(this_thread().task->icv, thread_limit);
    for (unsigned i = 0; i < count; ++i) {
        const Apart apart(icv, {i, count});
        body(data);
    }
}

PLACE_QUERY(omp_get_num_teams, return static_cast<int>(me.team->league.teams);)
PLACE_QUERY(omp_get_team_num, return static_cast<int>(me.team->league.number);)
ANY_PLACE_QUERY(omp_get_num_teams)
ANY_PLACE_QUERY(omp_get_team_num)
QUERY(int, omp_get_max_teams, return environment().teams;)
QUERY(int, omp_get_teams_thread_limit, return environment().teams_thread_limit;)
OF_NUMBER(void, omp_set_num_teams, if (value >= 0) environment().teams = value;)
OF_NUMBER(void, omp_set_teams_thread_limit, if (value >= 0) environment().teams_thread_limit = value;)

// ---- devices ------------------------------------------------------------------------------------

QUERY(int, omp_get_num_devices, return 0;)
QUERY(int, omp_get_initial_device, return host_device;)
QUERY(int, omp_get_device_num, return host_device;)
QUERY(int, omp_is_initial_device, return 1;)
QUERY(int, omp_get_default_device, return this_thread().icv().device;)
OF_NUMBER(void, omp_set_default_device, Icv values = this_thread().icv(); values.device = std::max(value, 0);
          this_thread().set_icv(values);)

namespace {

// -1 is omp_initial_device of OpenMP 5.2, which some programs use today.
bool is_host(int device) { return device == host_device || device == -1; }

[[noreturn]] void no_device() { fatal_error("OMP_TARGET_OFFLOAD is set to MANDATORY, but device not found"); }

// Whether a routine can do something with the device's memory.
bool may_use(int device) {
    demand_device_of_routine(device);
    return is_host(device);
}

}   // namespace

namespace weft_openmp {

void demand_device_of_directive(int device) {
    constexpr int by_default = -1, by_if = -2;   // as the compiler passes them
    if (!environment().offload_is_mandatory || device == by_if) return;
    if (device == by_default) device = this_thread().icv().device;
    if (device != host_device) no_device();
}

void demand_device_of_routine(int device) {
    if (environment().offload_is_mandatory && device > host_device) no_device();
}

}   // namespace weft_openmp

OPENMP_API void* omp_target_alloc(std::size_t bytes, int device) {
    return may_use(device) ? std::malloc(bytes) : nullptr;
}
OPENMP_API void omp_target_free(void* memory, int device) {
    if (memory != nullptr && may_use(device)) std::free(memory);
}
OPENMP_API int omp_target_is_present(const void* memory, int device) {
    return memory == nullptr || may_use(device) ? 1 : 0;
}
OPENMP_API int omp_target_memcpy(void* to, const void* from, std::size_t bytes, std::size_t to_offset,
                                 std::size_t from_offset, int to_device, int from_device) {
    if (!may_use(to_device) || !may_use(from_device)) return EINVAL;
    std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset, bytes);
    return 0;
}
OPENMP_API int omp_target_memcpy_rect(void* to, const void* from, std::size_t element, int dimensions,
                                      const std::size_t* volume, const std::size_t* to_offsets,
                                      const std::size_t* from_offsets, const std::size_t* to_dimensions,
                                      const std::size_t* from_dimensions, int to_device, int from_device) {
    if (to == nullptr && from == nullptr) return INT_MAX;   // how many dimensions are supported
    if (!may_use(to_device) || !may_use(from_device) || element == 0 || dimensions < 1) return EINVAL;
    std::size_t to_bytes = element, from_bytes = element;   // of one step in the first dimension
    for (int i = 1; i < dimensions; ++i) {
        if (__builtin_mul_overflow(to_bytes, to_dimensions[i], &to_bytes) ||
            __builtin_mul_overflow(from_bytes, from_dimensions[i], &from_bytes))
            return EINVAL;
    }
    char* const to_first = static_cast<char*>(to) + to_offsets[0] * to_bytes;
    const char* const from_first = static_cast<const char*>(from) + from_offsets[0] * from_bytes;
    if (dimensions == 1) {
        std::memcpy(to_first, from_first, element * volume[0]);
        return 0;
    }
    for (std::size_t i = 0; i < volume[0]; ++i) {
        const int result = omp_target_memcpy_rect(to_first + i * to_bytes, from_first + i * from_bytes, element,
                                                  dimensions - 1, volume + 1, to_offsets + 1, from_offsets + 1,
                                                  to_dimensions + 1, from_dimensions + 1, to_device, from_device);
        if (result != 0) return result;
    }
    return 0;
}
OPENMP_API int omp_target_associate_ptr(const void*, const void*, std::size_t, std::size_t, int device) {
    demand_device_of_routine(device);
    return EINVAL;
}
OPENMP_API int omp_target_disassociate_ptr(const void*, int device) {
    demand_device_of_routine(device);
    return EINVAL;
}

// Nothing is held for a device, and members are kept: a later region would have to make them again.
OPENMP_API int omp_pause_resource(int kind, int device) {
    return (kind == 1 || kind == 2) && is_host(device) && this_thread().team->level == 0 ? 0 : -1;
}
OPENMP_API int omp_pause_resource_all(int kind) { return omp_pause_resource(kind, 0); }
OPENMP_API int omp_pause_resource_(const std::int32_t* kind, const std::int32_t* device) {
    return omp_pause_resource(*kind, *device);
}
OPENMP_API int omp_pause_resource_all_(const std::int32_t* kind) { return omp_pause_resource_all(*kind); }

// ---- messages -----------------------------------------------------------------------------------

namespace {

// `what` ends with the separator before the text. Fortran passes the text's length; a C text ends
// with a null character.
void tell(std::string_view what, const char* text, std::size_t bytes) {
    if (text == nullptr) complain_of(what.substr(0, what.size() - 2), {});
    else complain_of(what, bytes == ~std::size_t{0} ? std::string_view(text) : std::string_view(text, bytes));
}

}   // namespace

OPENMP_API void GOMP_warning(const char* text, std::size_t bytes) {
    tell("error directive encountered: ", text, bytes);
}
OPENMP_API void GOMP_error(const char* text, std::size_t bytes) {
    tell("fatal error: error directive encountered: ", text, bytes);
    std::exit(EXIT_FAILURE);
}
