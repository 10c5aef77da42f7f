// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/settings.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "base/text.hpp"
#include "hart/quota.hpp"
#include "os/memory.hpp"
#include "process/error.hpp"

namespace weft {
namespace {

struct Word {
    const char* name;
    std::size_t value;
};

// One setting: where it is stored, what its variable may hold. A number is legal between `least`
// and `most`; a word stands for a number.
struct Setting {
    const char* variable;
    const char* meaning;
    std::size_t standard;   // the default
    std::size_t least;
    std::size_t most;
    std::size_t (*get)(const weft_settings&);
    void (*set)(weft_settings&, std::size_t);
    const Word* words;                        // ended by a null name; null: none
    bool numbers;                             // whether numbers are legal
    bool (*refuses)(std::size_t) = nullptr;   // which of the numbers in between it refuses; null: none
    const char* refused = "";                 // the refused numbers, in words
};

template <auto Member>
constexpr Setting setting(const char* variable, const char* meaning, std::size_t standard, std::size_t least,
                          std::size_t most, const Word* words, bool numbers) {
    using Value = std::remove_reference_t<decltype(weft_settings{}.*Member)>;
    return {variable,
            meaning,
            standard,
            least,
            most,
            [](const weft_settings& from) {
                if constexpr (std::is_enum_v<Value>) {   // a caller may have given it a value outside the enumeration
                    std::underlying_type_t<Value> number;
                    std::memcpy(&number, &(from.*Member), sizeof number);
                    return static_cast<std::size_t>(number);
                } else {
                    return static_cast<std::size_t>(from.*Member);
                }
            },
            [](weft_settings& to, std::size_t value) { to.*Member = static_cast<Value>(value); },
            words,
            numbers};
}

constexpr Word stream_words[] = {{"all", WEFT_ALL_HARTS}, {nullptr, 0}};
constexpr Word guard_words[] = {{"auto", WEFT_GUARD_AUTO},         {"install", WEFT_GUARD_INSTALL},
                                {"mprotect", WEFT_GUARD_MPROTECT}, {"canary", WEFT_GUARD_CANARY},
                                {"none", WEFT_GUARD_NONE},         {nullptr, 0}};
constexpr Word kind_words[] = {{"full", WEFT_KIND_FULL}, {"lsa", WEFT_KIND_LSA},       {"roc", WEFT_KIND_ROC},
                               {"ss", WEFT_KIND_SS},     {"sc", WEFT_KIND_SC},         {"rtc", WEFT_KIND_RTC},
                               {"auto", WEFT_KIND_AUTO}, {"hosted", WEFT_KIND_HOSTED}, {nullptr, 0}};
constexpr Word pool_words[] = {{"auto", WEFT_POOL_DEFAULT},      {"private", WEFT_POOL_PRIVATE},
                               {"shared", WEFT_POOL_SHARED},     {"deque", WEFT_POOL_DEQUE},
                               {"lifo", WEFT_POOL_LIFO},         {"priority", WEFT_POOL_PRIORITY},
                               {"blocking", WEFT_POOL_BLOCKING}, {nullptr, 0}};
constexpr Word sched_words[] = {
    {"auto", WEFT_SCHED_DEFAULT},          {"basic", WEFT_SCHED_BASIC},       {"random-steal", WEFT_SCHED_RANDOM_STEAL},
    {"basic-wait", WEFT_SCHED_BASIC_WAIT}, {"priority", WEFT_SCHED_PRIORITY}, {nullptr, 0}};
constexpr Word hart_policy_words[] = {
    {"fair", WEFT_HART_FAIR}, {"weighted", WEFT_HART_WEIGHTED}, {"first-come", WEFT_HART_FIRST_COME}, {nullptr, 0}};
constexpr Word deadlock_words[] = {
    {"report", WEFT_DEADLOCK_REPORT}, {"abort", WEFT_DEADLOCK_ABORT}, {"ignore", WEFT_DEADLOCK_IGNORE}, {nullptr, 0}};
constexpr Word signal_words[] = {{"off", 0},        {"HUP", SIGHUP},     {"INT", SIGINT},   {"QUIT", SIGQUIT},
                                 {"USR1", SIGUSR1}, {"USR2", SIGUSR2},   {"ALRM", SIGALRM}, {"TERM", SIGTERM},
                                 {"URG", SIGURG},   {"WINCH", SIGWINCH}, {"IO", SIGIO},     {"PWR", SIGPWR},
                                 {nullptr, 0}};
constexpr Word rescue_words[] = {{"on", WEFT_RESCUE_ON},
                                 {"off", WEFT_RESCUE_OFF},
                                 {"ignore", WEFT_RESCUE_IGNORE},
                                 {"all", WEFT_RESCUE_ALL},
                                 {nullptr, 0}};
constexpr Word neighbour_words[] = {
    {"withhold", WEFT_NEIGHBOURS_WITHHOLD}, {"ignore", WEFT_NEIGHBOURS_IGNORE}, {nullptr, 0}};
constexpr Word hart_words[] = {{"all", 0}, {nullptr, 0}};
constexpr Word bound_words[] = {{"units", 0}, {nullptr, 0}};
constexpr Word switch_words[] = {{"off", 0}, {"on", 1}, {nullptr, 0}};

// Faults, whose handlers must not return; signals that cannot have a handler; signals that the C
// library reserves.
bool no_request(std::size_t signal) {
    for (int one : {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGKILL, SIGSTOP, 32, 33}) {
        if (signal == static_cast<std::size_t>(one)) return true;
    }
    return false;
}

constexpr Setting refusing(Setting setting, bool (*refuses)(std::size_t), const char* refused) {
    setting.refuses = refuses;
    setting.refused = refused;
    return setting;
}

constexpr std::size_t most_bytes = std::size_t{1} << 40;
constexpr std::size_t most_streams = 1024;

constexpr Setting settings_table[] = {
    setting<&weft_settings::streams>("WEFT_STREAMS", "streams that weft_init starts", WEFT_ALL_HARTS, 1, most_streams,
                                     stream_words, true),
    setting<&weft_settings::stack_bytes>("WEFT_STACK_BYTES", "stack of a ULT", 65536, WEFT_STACK_LEAST, most_bytes,
                                         nullptr, true),
    setting<&weft_settings::guard_bytes>("WEFT_GUARD_BYTES", "guard below each stack; 0 is one page", 0, 0, 1 << 30,
                                         nullptr, true),
    setting<&weft_settings::guard>("WEFT_GUARD", "how stacks are guarded", WEFT_GUARD_AUTO, 0, 4, guard_words, false),
    setting<&weft_settings::kind>("WEFT_KIND", "kind of a ULT whose options name none", WEFT_KIND_AUTO, 1,
                                  WEFT_KIND_HOSTED, kind_words, false),
    setting<&weft_settings::pool>("WEFT_POOL",
                                  "main pools of the streams; auto: private for one stream, deque for several", 0, 0, 3,
                                  pool_words, false),
    setting<&weft_settings::scheduler>("WEFT_SCHEDULER",
                                       "scheduler of the streams; auto: random-steal for deques and for several "
                                       "streams whose pools are not private, else basic",
                                       0, 0, 2, sched_words, false),
    setting<&weft_settings::scheduler_stack_bytes>("WEFT_SCHEDULER_STACK_BYTES", "stack of schedulers and tasklets",
                                                   262144, 32768, 1 << 30, nullptr, true),
    setting<&weft_settings::idle_memory_bytes>("WEFT_IDLE_MEMORY_BYTES",
                                               "idle memory that is kept; more is returned to the system", 64 << 20, 1,
                                               most_bytes, nullptr, true),
    setting<&weft_settings::spin_ns>("WEFT_SPIN_NS",
                                     "how long an idle stream polls for work before it sleeps; 1: not at all", 20000, 1,
                                     1000000000, nullptr, true),
    setting<&weft_settings::timing>("WEFT_TIMING", "whether time in units and in schedulers is measured", 0, 0, 1,
                                    switch_words, false),
    refusing(setting<&weft_settings::dump>("WEFT_DUMP", "signal that makes the process write a dump to standard error",
                                           0, 1, 64, signal_words, true),
             no_request, ", but none of a fault (ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS), KILL, STOP, 32 or 33"),
    setting<&weft_settings::deadlock>("WEFT_DEADLOCK", "what is done when no unit can ever continue", 0, 0, 2,
                                      deadlock_words, false),
    setting<&weft_settings::own_stacks>("WEFT_OWN_STACKS",
                                        "whether ULTs of kind auto never run on their scheduler's stack", 0, 0, 1,
                                        switch_words, false),
    setting<&weft_settings::roaming_primary>("WEFT_ROAMING_PRIMARY",
                                             "whether the primary unit waits in stream 0's main pool as others do", 0,
                                             0, 1, switch_words, false),
    setting<&weft_settings::hart_policy>("WEFT_HART_POLICY",
                                         "how harts are shared among claimants that want more than there are", 0, 0, 2,
                                         hart_policy_words, false),
    setting<&weft_settings::slice_ns>("WEFT_SLICE_NS", "how long a claimant keeps a hart while another one lacks it",
                                      5000000, 1, 10000000000, nullptr, true),
    setting<&weft_settings::trace_events>("WEFT_TRACE_EVENTS",
                                          "events of each stream that a trace holds; the oldest are lost", 1 << 20, 16,
                                          1 << 30, nullptr, true),
    setting<&weft_settings::rescue>("WEFT_RESCUE",
                                    "whether other OS threads run units whose streams block, spin or never switch",
                                    WEFT_RESCUE_ON, 1, 4, rescue_words, false),
    setting<&weft_settings::rescue_bound>("WEFT_RESCUE_BOUND",
                                          "OS threads that rescue at once, at most; units: as many as live", 0, 1,
                                          most_streams, bound_words, true),
    setting<&weft_settings::harts>("WEFT_HARTS",
                                   "harts that the process uses, at most; all: as many as CPU set and quota allow", 0,
                                   0, most_streams, hart_words, true),
    setting<&weft_settings::neighbours>(
        "WEFT_NEIGHBOURS", "whether harts are withheld beside processes that compute on the same processors",
        WEFT_NEIGHBOURS_WITHHOLD, 1, 2, neighbour_words, false),
    setting<&weft_settings::own_float>(
        "WEFT_OWN_FLOAT", "whether each unit has a floating-point environment of its own (rounding, traps)", 0, 0, 1,
        switch_words, true),
};

// Settings whose value is not a number but a name, or nothing: `off`.
constexpr const char* off = "off";
bool is_off(const char* text) { return std::strcmp(text, off) == 0; }
bool names_counters(const char* text) { return std::strcmp(text, "stderr") == 0 || *text == '/' || *text == '.'; }
bool names_file(const char* text) { return *text != '\0'; }

struct TextSetting {
    const char* variable;
    const char* legal;
    const char* meaning;
    bool (*accepts)(const char* text);
};

constexpr TextSetting counters_setting{"WEFT_COUNTERS", "off, stderr, or a file's name that begins with / or .",
                                       "where the counters are printed at exit or at the last weft_finalize",
                                       names_counters};
constexpr TextSetting trace_setting{
    "WEFT_TRACE", "off, or a file's name",
    "where a trace for Chrome and Perfetto is written at exit or at the last weft_finalize", names_file};
constexpr const TextSetting* text_settings[] = {&counters_setting, &trace_setting};

Text<512> legal(const Setting& setting) {
    Text<512> text;
    for (const Word* word = setting.words; word != nullptr && word->name != nullptr; ++word)
        text.put("%s%s", text.empty() ? "" : ", ", word->name);
    if (setting.numbers)
        text.put("%sa number from %zu to %zu%s", text.empty() ? "" : ", or ", setting.least, setting.most,
                 setting.refused);
    return text;
}

bool in_range(const Setting& setting, std::size_t value) {
    for (const Word* word = setting.words; word != nullptr && word->name != nullptr; ++word) {
        if (word->value == value) return true;
    }
    return value >= setting.least && value <= setting.most && (setting.refuses == nullptr || !setting.refuses(value));
}

bool parse(const Setting& setting, const char* text, std::size_t& value) {
    for (const Word* word = setting.words; word != nullptr && word->name != nullptr; ++word) {
        if (std::strcmp(word->name, text) == 0) {
            value = word->value;
            return true;
        }
    }
    if (!setting.numbers || *text < '0' || *text > '9') return false;
    char* end;
    errno = 0;
    const unsigned long long number = std::strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || number < setting.least || number > setting.most) return false;
    if (setting.refuses != nullptr && setting.refuses(number)) return false;
    value = number;
    return true;
}

weft_status illegal(const char* variable, const char* text, const char* legal) {
    return fail(WEFT_ENVIRONMENT, "%s is '%.100s'; legal are: %s", variable, text, legal);
}

weft_status refuse_variable(const char* variable, const char* text, const char* legal) {
    illegal(variable, text, legal);
    std::fprintf(stderr, "weft: %s\n", weft_error_text());
    return WEFT_ENVIRONMENT;
}

// Takes the variable's value, if it is set.
weft_status read_text(const TextSetting& setting, const char*& value) {
    if (const char* text = std::getenv(setting.variable)) value = is_off(text) ? nullptr : text;
    return value == nullptr || setting.accepts(value) ? WEFT_OK
                                                      : refuse_variable(setting.variable, value, setting.legal);
}

}   // namespace

weft_status Settings::read(const weft_settings* asked) {
    weft_settings given{};
    if (asked != nullptr) {
        if (asked->size < sizeof(std::size_t) || asked->size > 4096) {
            return fail(WEFT_INVALID, "weft_settings.size is %zu; set it to sizeof(weft_settings)", asked->size);
        }
        std::memcpy(&given, asked, asked->size < sizeof given ? asked->size : sizeof given);
    }
    for (const Setting& setting : settings_table) {
        std::size_t value = setting.get(given);
        if (value == 0) value = setting.standard;
        if (!in_range(setting, value)) {
            return fail(WEFT_INVALID, "the setting of %s is %zu; legal are: %s", setting.variable, value,
                        legal(setting).c_str());
        }
        if (const char* text = std::getenv(setting.variable)) {
            if (!parse(setting, text, value)) return refuse_variable(setting.variable, text, legal(setting).c_str());
        }
        setting.set(values, value);
    }
    values.size = sizeof values;
    streams_unasked = given.streams == 0 && std::getenv("WEFT_STREAMS") == nullptr;
    hart::allow(values.harts == 0 ? hart::no_limit : values.harts);
    if (values.streams == WEFT_ALL_HARTS) values.streams = std::min(hart::limit(), most_streams);
    values.trace = given.trace;
    if (weft_status status = read_text(counters_setting, counters); status != WEFT_OK) return status;
    return read_text(trace_setting, values.trace);
}

const char* setting_variable(std::size_t index) {
    constexpr std::size_t numbers = std::size(settings_table);
    if (index < numbers) return settings_table[index].variable;
    return index - numbers < std::size(text_settings) ? text_settings[index - numbers]->variable : nullptr;
}

void settings_print(std::FILE* file) {
    for (const Setting& setting : settings_table) {
        const char* standard_word = nullptr;
        for (const Word* word = setting.words; word != nullptr && word->name != nullptr; ++word) {
            if (word->value == setting.standard) standard_word = word->name;
        }
        Text<32> standard;
        if (standard_word == nullptr) standard.put("%zu", setting.standard);
        else standard.put("%s", standard_word);
        std::fprintf(file, "%s\t%s\tdefault %s\t%s\n", setting.variable, legal(setting).c_str(), standard.c_str(),
                     setting.meaning);
    }
    for (const TextSetting* setting : text_settings) {
        std::fprintf(file, "%s\t%s\tdefault %s\t%s\n", setting->variable, setting->legal, off, setting->meaning);
    }
}

weft_status settings_check(std::FILE* file) {
    weft_status status = WEFT_OK;
    const auto note = [&](const char* variable, const char* text, const char* legal) {
        status = illegal(variable, text, legal);
        if (file != nullptr) std::fprintf(file, "%s\n", weft_error_text());
    };
    for (const Setting& setting : settings_table) {
        std::size_t value;
        const char* const text = std::getenv(setting.variable);
        if (text != nullptr && !parse(setting, text, value)) note(setting.variable, text, legal(setting).c_str());
    }
    for (const TextSetting* setting : text_settings) {
        const char* const text = std::getenv(setting->variable);
        if (text != nullptr && !is_off(text) && !setting->accepts(text)) note(setting->variable, text, setting->legal);
    }
    return status;
}

}   // namespace weft
