// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tool.hpp"

#include <fenv.h>

#include <atomic>
#include <cstring>
#include <mutex>

#include "init.hpp"
#include "lock.hpp"
#include "pointer_table.hpp"
#include "xstream.hpp"

namespace weft::argobots {
namespace {

// ---- events for a tool --------------------------------------------------------------------------

// The program's callback. It changes only while it is not registered.
struct Tool {
    weft_observer* observer = nullptr;
    ABT_tool_thread_callback_fn call = nullptr;
    std::uint64_t events = 0;
    void* argument = nullptr;
};

Lock registering;   // held by the thread that changes the tool
// the registered tool, and room for the next one, whose observer is registered before the former is
// removed
Tool tools[2];
std::atomic<const Tool*> told_tool{nullptr};   // null: there is none
PointerTable<bool> suspended;                  // units that have reported a suspension and have not resumed

struct WaitingAt {
    ABT_sync_event_type type = ABT_SYNC_EVENT_TYPE_UNKNOWN;
    void* handle = nullptr;
};
// For the caller's OS thread: the caller sets this, and reports its suspension before it can move
// to another OS thread.
thread_local WaitingAt waiting_at;

[[gnu::noinline]] WaitingAt take_waiting_at() {
    const WaitingAt said = waiting_at;
    waiting_at = {};
    return said;
}

// The event that ABT_tool_query_thread answers about.
struct Context {
    const weft_observation& seen;
    std::uint64_t event;
    WaitingAt at;
};

void tell(const Tool& tool, std::uint64_t event, const weft_observation& seen, WaitingAt at = {}) {
    if ((tool.events & event) == 0) return;
    Context context{seen, event, at};
    Xstream* const xstream = xstream_of(seen.stream);
    tool.call(to_thread(seen.unit), xstream == nullptr ? ABT_XSTREAM_NULL : xstream->abt(), event,
              reinterpret_cast<ABT_tool_context>(&context), tool.argument);
}

struct Name {
    const char* weft;
    ABT_sync_event_type type;
};
constexpr Name names[] = {
    {"suspend", ABT_SYNC_EVENT_TYPE_USER},          {"join", ABT_SYNC_EVENT_TYPE_THREAD_JOIN},
    {"join_many", ABT_SYNC_EVENT_TYPE_THREAD_JOIN}, {"mutex", ABT_SYNC_EVENT_TYPE_MUTEX},
    {"condition", ABT_SYNC_EVENT_TYPE_COND},        {"event", ABT_SYNC_EVENT_TYPE_EVENTUAL},
    {"barrier", ABT_SYNC_EVENT_TYPE_BARRIER},       {"stream_free", ABT_SYNC_EVENT_TYPE_XSTREAM_JOIN},
};

// What a unit is about to wait at: as set by the bridge, or derived from Weft's name.
WaitingAt what_it_waits_at(const weft_observation& seen) {
    const WaitingAt said = take_waiting_at();
    if (said.type != ABT_SYNC_EVENT_TYPE_UNKNOWN) return said;
    for (const Name& name : names) {
        if (std::strcmp(seen.waits_for, name.weft) != 0) continue;
        void* object = const_cast<void*>(seen.object);
        if (name.type == ABT_SYNC_EVENT_TYPE_XSTREAM_JOIN)
            object = xstream_of(static_cast<const weft_stream*>(seen.object));
        return {name.type, name.type == ABT_SYNC_EVENT_TYPE_USER ? nullptr : object};
    }
    return {ABT_SYNC_EVENT_TYPE_OTHER, nullptr};
}

// Weft's RESUME follows a suspension or a yield; the unit reports it as it resumes.
void goes_on(const Tool& tool, const weft_observation& seen) {
    bool was_suspended = false;
    if (suspended.take(seen.unit, was_suspended)) tell(tool, ABT_TOOL_EVENT_THREAD_RESUME, seen);
    tell(tool, ABT_TOOL_EVENT_THREAD_RUN, seen);
}

// acquire: pairs with the release that registers the tool; `raw` is that tool.
void told(const weft_observation* seen, void* raw) {
    if (told_tool.load(std::memory_order_acquire) != raw) return;   // not yet registered, or no longer
    const Tool& tool = *static_cast<const Tool*>(raw);
    switch (seen->what) {
    case WEFT_OBSERVED_CREATE: return tell(tool, ABT_TOOL_EVENT_THREAD_CREATE, *seen);
    case WEFT_OBSERVED_REVIVE: return tell(tool, ABT_TOOL_EVENT_THREAD_REVIVE, *seen);
    case WEFT_OBSERVED_START: return tell(tool, ABT_TOOL_EVENT_THREAD_RUN, *seen);
    case WEFT_OBSERVED_RESUME: return goes_on(tool, *seen);
    case WEFT_OBSERVED_YIELD:
        return tell(tool, ABT_TOOL_EVENT_THREAD_YIELD, *seen, {ABT_SYNC_EVENT_TYPE_USER, nullptr});
    case WEFT_OBSERVED_SUSPEND:
        suspended.put(seen->unit, true);   // if there is no memory, the tool sees a RUN without its RESUME
        return tell(tool, ABT_TOOL_EVENT_THREAD_SUSPEND, *seen, what_it_waits_at(*seen));
    case WEFT_OBSERVED_FINISH:
        return tell(
            tool, seen->outcome == WEFT_OUTCOME_CANCELLED ? ABT_TOOL_EVENT_THREAD_CANCEL : ABT_TOOL_EVENT_THREAD_FINISH,
            *seen);
    case WEFT_OBSERVED_JOIN: return tell(tool, ABT_TOOL_EVENT_THREAD_JOIN, *seen);
    case WEFT_OBSERVED_FREE: return tell(tool, ABT_TOOL_EVENT_THREAD_FREE, *seen);
    default: return;
    }
}

constexpr unsigned told_events = WEFT_OBSERVED_CREATE | WEFT_OBSERVED_REVIVE | WEFT_OBSERVED_START |
                                 WEFT_OBSERVED_RESUME | WEFT_OBSERVED_YIELD | WEFT_OBSERVED_SUSPEND |
                                 WEFT_OBSERVED_FINISH | WEFT_OBSERVED_JOIN | WEFT_OBSERVED_FREE;

int observe(unsigned events, void (*call)(const weft_observation*, void*), void* argument, weft_observer** observer) {
    weft_observer_options how{};
    how.size = sizeof how;
    how.events = events;
    how.call = call;
    how.argument = argument;
    return from_weft(weft_observer_register(&how, observer));
}

// When this returns, no thread calls the tool any more.
void end_tool(Tool& tool) {
    if (tool.observer != nullptr) weft_observer_unregister(tool.observer);
    tool = {};
}

void forget_tool() {
    told_tool.store(nullptr, std::memory_order_relaxed);   // relaxed: null leads to no data
    for (Tool& tool : tools) end_tool(tool);
    suspended.clear();
}

// ---- floating-point modes -----------------------------------------------------------------------

// A unit's rounding mode and trapping exceptions: x86-64's mxcsr and x87 control word, AArch64's
// fpcr. Between two units the standard modes are in force; a unit that has changed its modes keeps
// them over switches.
PointerTable<femode_t> modes;
std::atomic<std::size_t> kept{0};   // units in the table: usually none
weft_observer* mode_observer = nullptr;

void use_standard() { fesetmode(FE_DFL_MODE); }

void leaves(const weft_unit* unit) {
    femode_t its{}, standard{};   // no byte is left undefined
    fegetmode(&its);
    use_standard();
    fegetmode(&standard);   // read now: it may contain flags beside the modes, and these stay
    if (std::memcmp(&its, &standard, sizeof its) == 0) return;
    // relaxed: the unit itself reads the count later
    if (modes.put(unit, its)) kept.fetch_add(1, std::memory_order_relaxed);
}

void comes_back(const weft_unit* unit) {
    use_standard();
    femode_t its{};
    // relaxed: the unit itself has counted its own entry
    if (kept.load(std::memory_order_relaxed) == 0 || !modes.take(unit, its)) return;
    kept.fetch_sub(1, std::memory_order_relaxed);
    fesetmode(&its);
}

void mode_changes(const weft_observation* seen, void*) {
    switch (seen->what) {
    case WEFT_OBSERVED_SUSPEND:
    case WEFT_OBSERVED_YIELD: return leaves(seen->unit);
    case WEFT_OBSERVED_RESUME: return comes_back(seen->unit);
    default: return use_standard();   // the unit begins, or has ended
    }
}

int keep_modes() {
    constexpr unsigned events =
        WEFT_OBSERVED_START | WEFT_OBSERVED_SUSPEND | WEFT_OBSERVED_YIELD | WEFT_OBSERVED_RESUME | WEFT_OBSERVED_FINISH;
    return observe(events, mode_changes, nullptr, &mode_observer);
}

}   // namespace

[[gnu::noinline]] void WaitsAt::say(ABT_sync_event_type type, void* handle) { waiting_at = {type, handle}; }

int begin_tools(bool preserve_fpu) { return preserve_fpu ? keep_modes() : ABT_SUCCESS; }

void end_tools() {
    const std::lock_guard guard(registering);
    forget_tool();
    if (mode_observer != nullptr) weft_observer_unregister(mode_observer);
    mode_observer = nullptr;
    modes.clear();
    kept.store(0);
}

}   // namespace weft::argobots

using namespace weft::argobots;

namespace {

// The events for which each query has an answer.
constexpr std::uint64_t with_pool = ABT_TOOL_EVENT_THREAD_CREATE | ABT_TOOL_EVENT_THREAD_REVIVE |
                                    ABT_TOOL_EVENT_THREAD_YIELD | ABT_TOOL_EVENT_THREAD_SUSPEND |
                                    ABT_TOOL_EVENT_THREAD_RESUME;
constexpr std::uint64_t with_depth = ABT_TOOL_EVENT_THREAD_RUN | ABT_TOOL_EVENT_THREAD_FINISH |
                                     ABT_TOOL_EVENT_THREAD_YIELD | ABT_TOOL_EVENT_THREAD_SUSPEND |
                                     ABT_TOOL_EVENT_THREAD_CANCEL;
constexpr std::uint64_t with_caller = ABT_TOOL_EVENT_THREAD_CREATE | ABT_TOOL_EVENT_THREAD_JOIN |
                                      ABT_TOOL_EVENT_THREAD_FREE | ABT_TOOL_EVENT_THREAD_REVIVE |
                                      ABT_TOOL_EVENT_THREAD_YIELD | ABT_TOOL_EVENT_THREAD_SUSPEND |
                                      ABT_TOOL_EVENT_THREAD_RESUME | ABT_TOOL_EVENT_THREAD_CANCEL;
constexpr std::uint64_t with_object = ABT_TOOL_EVENT_THREAD_YIELD | ABT_TOOL_EVENT_THREAD_SUSPEND;

std::uint64_t events_of(ABT_tool_query_kind kind) {
    switch (kind) {
    case ABT_TOOL_QUERY_KIND_POOL: return with_pool;
    case ABT_TOOL_QUERY_KIND_STACK_DEPTH: return with_depth;
    case ABT_TOOL_QUERY_KIND_CALLER_TYPE:
    case ABT_TOOL_QUERY_KIND_CALLER_HANDLE: return with_caller;
    case ABT_TOOL_QUERY_KIND_SYNC_OBJECT_TYPE:
    case ABT_TOOL_QUERY_KIND_SYNC_OBJECT_HANDLE: return with_object;
    }
    return 0;
}

// The number of schedulers below the unit. A main scheduler of Weft is the stream's loop and not a
// unit.
int depth_below(const weft_observation& seen) {
    std::size_t depth = 0;
    if (seen.stream == nullptr || weft_stream_depth_get(seen.stream, &depth) != WEFT_OK) return 0;
    const Xstream* const xstream = xstream_of(seen.stream);   // null: not a stream of the bridge
    return static_cast<int>(depth) + (xstream != nullptr && xstream->sched->custom ? 0 : 1);
}

template <class T>
void answer(void* place, T value) {
    std::memcpy(place, &value, sizeof value);
}

}   // namespace

extern "C" {

int ABT_tool_register_thread_callback(ABT_tool_thread_callback_fn cb_func, uint64_t event_mask, void* user_arg) {
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    if ((weft_features() & WEFT_FEATURE_OBSERVERS) == 0) return ABT_ERR_FEATURE_NA;
    const std::lock_guard guard(registering);
    if (cb_func == nullptr || (event_mask & ABT_TOOL_EVENT_THREAD_ALL) == 0) {
        forget_tool();
        return ABT_SUCCESS;
    }
    // relaxed: written under the lock
    Tool& before = &tools[0] == told_tool.load(std::memory_order_relaxed) ? tools[0] : tools[1];
    Tool& next = &before == &tools[0] ? tools[1] : tools[0];
    next = {nullptr, cb_func, event_mask, user_arg};
    if (const int error = observe(told_events, told, &next, &next.observer); error != ABT_SUCCESS) {
        next = {};
        return error;   // the former tool stays registered
    }
    told_tool.store(&next, std::memory_order_release);   // release: pairs with told()
    end_tool(before);
    return ABT_SUCCESS;
}

int ABT_tool_query_thread(ABT_tool_context context, uint64_t event, ABT_tool_query_kind query_kind, void* val) {
    if ((weft_features() & WEFT_FEATURE_OBSERVERS) == 0) return ABT_ERR_FEATURE_NA;
    if (is_null(context)) return ABT_ERR_INV_TOOL_CONTEXT;
    const auto& of = *reinterpret_cast<const Context*>(context);
    if (of.event != event || (events_of(query_kind) & event) == 0) return ABT_ERR_INV_ARG;
    weft_unit* const self = weft_unit_self();
    switch (query_kind) {
    case ABT_TOOL_QUERY_KIND_POOL: answer(val, reinterpret_cast<ABT_pool>(of.seen.pool)); break;
    case ABT_TOOL_QUERY_KIND_STACK_DEPTH: answer(val, depth_below(of.seen)); break;
    case ABT_TOOL_QUERY_KIND_CALLER_TYPE:
        answer(val, self == nullptr ? ABT_EXEC_ENTITY_TYPE_EXT : ABT_EXEC_ENTITY_TYPE_THREAD);
        break;
    case ABT_TOOL_QUERY_KIND_CALLER_HANDLE: answer(val, to_thread(self)); break;
    case ABT_TOOL_QUERY_KIND_SYNC_OBJECT_TYPE: answer(val, of.at.type); break;
    case ABT_TOOL_QUERY_KIND_SYNC_OBJECT_HANDLE: answer(val, of.at.handle); break;
    }
    return ABT_SUCCESS;
}

}   // extern "C"
