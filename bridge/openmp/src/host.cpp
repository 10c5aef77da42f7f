// Leagues of teams, and target regions: there is no device but the host, on which they run, one team after the other.
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <strings.h>
#include <utility>
#include <vector>

#include "depend.hpp"
#include "fatal.hpp"
#include "routine.hpp"
#include "team.hpp"

using namespace weft_openmp;   // NOLINT: entry points

namespace {

// A region that begins with an initial thread: as if it were called outside of all others.
class Apart {
public:
    explicit Apart(unsigned thread_limit = 0)
        : me_(this_thread()), team_(me_.team), slot_(me_.slot), task_(me_.task), under_(me_.under), depth_(me_.depth) {
        const Icv* const icv = task_->icv;
        me_.stand_alone();
        me_.depth = depth_;   // crews above are at work
        group_before_ = std::exchange(me_.team->group, &group_);
        before_ = std::exchange(me_.task->icv, icv);
        if (thread_limit == 0) return;
        Icv limited = *icv;
        limited.thread_limit = std::min(limited.thread_limit, thread_limit);
        me_.set_icv(limited);
    }
    ~Apart() {
        me_.task->icv = before_;
        me_.team->group = group_before_;
        me_.team = team_;
        me_.slot = slot_;
        me_.task = task_;
        me_.under = under_;
    }
    Apart(const Apart&) = delete;
    Apart& operator=(const Apart&) = delete;

private:
    Thread& me_;
    Team* const team_;
    Slot* const slot_;
    Task* const task_;
    const Task* const under_;
    const unsigned depth_;
    const Icv* before_;
    std::atomic<unsigned> group_{1};   // a contention group of its own
    std::atomic<unsigned>* group_before_;
};

// How the compiler says that the host's code is to have a copy of a variable (in the low byte of its kind; the next one has the logarithm of its alignment).
constexpr unsigned kind_bits = 0xff, firstprivate = 8;

// Of a target region's clauses the compiler says num_teams and thread_limit in words, up to a null one: what is told in the second byte; its value above, or in the next word where
// it does not fit or is not known.
unsigned thread_limit_in(void** words) {
    constexpr std::uintptr_t value_follows = 1U << 7, what = 0xff00, thread_limit = 2U << 8;
    constexpr unsigned value_from = 16;
    unsigned limit = 0;
    for (; words != nullptr && *words != nullptr; ++words) {
        const auto word = reinterpret_cast<std::uintptr_t>(*words);
        const auto value = (word & value_follows) != 0 ? reinterpret_cast<std::intptr_t>(*++words) : static_cast<std::intptr_t>(word) >> value_from;
        if ((word & what) == thread_limit) limit = value < 0 || value > INT_MAX ? 0 : static_cast<unsigned>(value);
    }
    return limit;
}

void run_on_host(void (*body)(void*), std::size_t count, void** addresses, const std::size_t* sizes, const unsigned short* kinds, unsigned thread_limit) {
    if (const char* const offload = std::getenv("OMP_TARGET_OFFLOAD"); offload != nullptr && strcasecmp(offload, "mandatory") == 0) {
        fatal_error("OMP_TARGET_OFFLOAD is set to MANDATORY, but device not found");
    }
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::vector<std::unique_ptr<void, Free>> copies;
    std::vector<void*> given(addresses, addresses + count);
    for (std::size_t i = 0; i < count && kinds != nullptr; ++i) {
        if ((kinds[i] & kind_bits) != firstprivate) continue;
        const std::size_t alignment = std::max<std::size_t>(std::size_t{1} << (kinds[i] >> 8), 16);
        void* const copy = std::aligned_alloc(alignment, (std::max<std::size_t>(sizes[i], 1) + alignment - 1) / alignment * alignment);
        if (copy == nullptr) fatal_error("Out of memory allocating %zu bytes", sizes[i]);
        std::memcpy(copy, addresses[i], sizes[i]);
        given[i] = copy;
        copies.emplace_back(copy);
    }
    const Apart apart(thread_limit);
    body(given.data());
}

}  // namespace

OPENMP_API void GOMP_target(int, void (*body)(void*), const void*, std::size_t, void** addresses, std::size_t*, unsigned char*) {
    const Apart apart;
    body(addresses);
}
OPENMP_API void GOMP_target_ext(int, void (*body)(void*), std::size_t count, void** addresses, std::size_t* sizes, unsigned short* kinds, unsigned,
                                void** dependences, void** clauses) {
    if (dependences != nullptr) wait_for_depended(this_thread(), dependences);
    run_on_host(body, count, addresses, sizes, kinds, thread_limit_in(clauses));
}
// The host's memory is the host's already.
OPENMP_API void GOMP_target_data(int, const void*, std::size_t, void**, std::size_t*, unsigned char*) {}
OPENMP_API void GOMP_target_data_ext(int, std::size_t, void**, std::size_t*, unsigned short*) {}
OPENMP_API void GOMP_target_end_data() {}
OPENMP_API void GOMP_target_update(int, const void*, std::size_t, void**, std::size_t*, unsigned char*) {}
OPENMP_API void GOMP_target_update_ext(int, std::size_t, void**, std::size_t*, unsigned short*, unsigned, void** dependences) {
    if (dependences != nullptr) wait_for_depended(this_thread(), dependences);
}
OPENMP_API void GOMP_target_enter_exit_data(int, std::size_t, void**, std::size_t*, unsigned short*, unsigned, void** dependences) {
    if (dependences != nullptr) wait_for_depended(this_thread(), dependences);
}
// Code for devices comes with programs; nothing here can run it.
OPENMP_API void GOMP_offload_register(const void*, int, const void*) {}
OPENMP_API void GOMP_offload_unregister(const void*, int, const void*) {}
OPENMP_API void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
OPENMP_API void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}

// ---- teams -----------------------------------------------------------------------------------------

OPENMP_API void GOMP_teams(unsigned, unsigned thread_limit) {
    Thread& me = this_thread();
    me.team_number = 0;
    me.teams = 1;
    if (thread_limit == 0) return;
    Icv values = me.icv();
    values.thread_limit = thread_limit;
    me.set_icv(values);
}
// Called before each team of the league; false when there is no other.
OPENMP_API bool GOMP_teams4(unsigned, unsigned most, unsigned thread_limit, bool first) {
    Thread& me = this_thread();
    if (first) {
        GOMP_teams(0, thread_limit);
        me.teams = std::max(most, 1U);
        return true;
    }
    if (me.team_number + 1 == me.teams) return false;
    ++me.team_number;
    return true;
}
OPENMP_API void GOMP_teams_reg(void (*body)(void*), void* data, unsigned count, unsigned thread_limit, unsigned) {
    Thread& me = this_thread();
    const Environment& said = environment();
    if (count == 0) count = said.teams != 0 ? static_cast<unsigned>(said.teams) : 3;   // libgomp's own choice on the host
    if (thread_limit == 0) thread_limit = static_cast<unsigned>(said.teams_thread_limit);
    {
        const Apart apart(thread_limit);
        me.teams = count;
        for (unsigned i = 0; i < count; ++i) {
            me.team_number = i;
            body(data);
        }
    }
    me.teams = 1;
    me.team_number = 0;
}

PLACE_QUERY(omp_get_num_teams, return static_cast<int>(me.teams);)
PLACE_QUERY(omp_get_team_num, return static_cast<int>(me.team_number);)
ANY_PLACE_QUERY(omp_get_num_teams)
ANY_PLACE_QUERY(omp_get_team_num)
QUERY(int, omp_get_max_teams, return environment().teams;)
QUERY(int, omp_get_teams_thread_limit, return environment().teams_thread_limit;)
OF_NUMBER(void, omp_set_num_teams, if (value >= 0) environment().teams = value;)
OF_NUMBER(void, omp_set_teams_thread_limit, if (value >= 0) environment().teams_thread_limit = value;)

// ---- devices ---------------------------------------------------------------------------------------

QUERY(int, omp_get_num_devices, return 0;)
QUERY(int, omp_get_initial_device, return 0;)
QUERY(int, omp_get_device_num, return 0;)
QUERY(int, omp_is_initial_device, return 1;)
QUERY(int, omp_get_default_device, return this_thread().icv().device;)
OF_NUMBER(void, omp_set_default_device, Icv values = this_thread().icv(); values.device = std::max(value, 0); this_thread().set_icv(values);)

namespace {

// -1 is omp_initial_device of OpenMP 5.2, which some write today.
bool is_host(int device) { return device == 0 || device == -1; }

}  // namespace

OPENMP_API void* omp_target_alloc(std::size_t bytes, int device) { return is_host(device) ? std::malloc(bytes) : nullptr; }
OPENMP_API void omp_target_free(void* memory, int device) {
    if (is_host(device)) std::free(memory);
}
OPENMP_API int omp_target_is_present(const void*, int device) { return is_host(device) ? 1 : 0; }
OPENMP_API int omp_target_memcpy(void* to, const void* from, std::size_t bytes, std::size_t to_offset, std::size_t from_offset, int to_device, int from_device) {
    if (!is_host(to_device) || !is_host(from_device)) return EINVAL;
    std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset, bytes);
    return 0;
}
OPENMP_API int omp_target_memcpy_rect(void* to, const void* from, std::size_t element, int dimensions, const std::size_t* volume,
                                      const std::size_t* to_offsets, const std::size_t* from_offsets, const std::size_t* to_dimensions,
                                      const std::size_t* from_dimensions, int to_device, int from_device) {
    if (to == nullptr && from == nullptr) return INT_MAX;   // how many dimensions are supported
    if (!is_host(to_device) || !is_host(from_device) || element == 0 || dimensions < 1) return EINVAL;
    std::size_t to_bytes = element, from_bytes = element;   // of one step in the first dimension
    for (int i = 1; i < dimensions; ++i) {
        if (__builtin_mul_overflow(to_bytes, to_dimensions[i], &to_bytes) || __builtin_mul_overflow(from_bytes, from_dimensions[i], &from_bytes)) return EINVAL;
    }
    char* const to_first = static_cast<char*>(to) + to_offsets[0] * to_bytes;
    const char* const from_first = static_cast<const char*>(from) + from_offsets[0] * from_bytes;
    if (dimensions == 1) {
        std::memcpy(to_first, from_first, element * volume[0]);
        return 0;
    }
    for (std::size_t i = 0; i < volume[0]; ++i) {
        const int result = omp_target_memcpy_rect(to_first + i * to_bytes, from_first + i * from_bytes, element, dimensions - 1, volume + 1, to_offsets + 1,
                                                  from_offsets + 1, to_dimensions + 1, from_dimensions + 1, to_device, from_device);
        if (result != 0) return result;
    }
    return 0;
}
OPENMP_API int omp_target_associate_ptr(const void*, const void*, std::size_t, std::size_t, int) { return EINVAL; }
OPENMP_API int omp_target_disassociate_ptr(const void*, int) { return EINVAL; }

// Nothing is held for a device, and members are kept: a region later would have to make them again.
OPENMP_API int omp_pause_resource(int kind, int device) { return (kind == 1 || kind == 2) && is_host(device) && this_thread().team->level == 0 ? 0 : -1; }
OPENMP_API int omp_pause_resource_all(int kind) { return omp_pause_resource(kind, 0); }
OPENMP_API int omp_pause_resource_(const std::int32_t* kind, const std::int32_t* device) { return omp_pause_resource(*kind, *device); }
OPENMP_API int omp_pause_resource_all_(const std::int32_t* kind) { return omp_pause_resource_all(*kind); }

// ---- messages --------------------------------------------------------------------------------------

namespace {

// `what` ends with what comes before a text. Fortran tells the text's length; of C's it ends where there is a null.
void tell(std::string_view what, const char* text, std::size_t bytes) {
    if (text == nullptr) complain_of(what.substr(0, what.size() - 2), {});
    else complain_of(what, bytes == ~std::size_t{0} ? std::string_view(text) : std::string_view(text, bytes));
}

}  // namespace

OPENMP_API void GOMP_warning(const char* text, std::size_t bytes) { tell("error directive encountered: ", text, bytes); }
OPENMP_API void GOMP_error(const char* text, std::size_t bytes) {
    tell("fatal error: error directive encountered: ", text, bytes);
    std::exit(EXIT_FAILURE);
}
