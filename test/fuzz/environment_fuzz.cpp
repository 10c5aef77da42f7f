// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The settings: whatever the environment and the program request, the answer is WEFT_OK and legal
// values, or a refusal that names the variable, its value and the legal values. An input is a
// choice of variables with their texts, and a weft_settings.
#include <unistd.h>

#include <cstring>
#include <iterator>

#include "hart/quota.hpp"
#include "os/error_text.hpp"
#include "process/settings.hpp"
#include "test/fuzz/fuzz.hpp"

using namespace weft_test;

namespace {

const char* const variables[] = {"WEFT_STREAMS",
                                 "WEFT_STACK_BYTES",
                                 "WEFT_GUARD_BYTES",
                                 "WEFT_GUARD",
                                 "WEFT_KIND",
                                 "WEFT_POOL",
                                 "WEFT_SCHEDULER",
                                 "WEFT_SCHEDULER_STACK_BYTES",
                                 "WEFT_IDLE_MEMORY_BYTES",
                                 "WEFT_SPIN_NS",
                                 "WEFT_TIMING",
                                 "WEFT_COUNTERS"};

// What weft_environment_print shows as the legal values of a variable.
std::string legal_values(const std::string& variable) {
    static const std::string printed = [] {
        char* text = nullptr;
        std::size_t bytes = 0;
        std::FILE* file = open_memstream(&text, &bytes);
        weft::settings_print(file);
        std::fclose(file);
        std::string all(text, bytes);
        std::free(text);
        return "\n" + all;
    }();
    const std::size_t line = printed.find("\n" + variable + "\t");
    check(line != std::string::npos, "each variable is printed", variable);
    const std::size_t begin = printed.find('\t', line) + 1;
    return printed.substr(begin, printed.find('\t', begin) - begin);
}

// Captures what is written to stderr meanwhile, which must not reach the fuzzer's output.
class Captured {
public:
    Captured() : kept_(dup(2)) { dup2(file(), 2); }
    ~Captured() {
        dup2(kept_, 2);
        close(kept_);
    }
    Captured(const Captured&) = delete;

    std::string text() const {
        std::string said(static_cast<std::size_t>(lseek(2, 0, SEEK_END)), '\0');
        check(pread(2, said.data(), said.size(), 0) == static_cast<ssize_t>(said.size()), "what was said can be read");
        check(ftruncate(2, 0) == 0 && lseek(2, 0, SEEK_SET) == 0, "the file can be used again");
        return said;
    }

private:
    static int file() {
        static const int made = fileno(std::tmpfile());
        return made;
    }
    int kept_;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Checks the refusal of a variable: its name, its value if that is short, and all legal values.
void check_refused(const std::string& why, const std::string& said) {
    check(said == "weft: " + why + "\n", "whoever set the variable is told, too", said);
    const std::string variable = why.substr(0, why.find(' '));
    const char* value = std::getenv(variable.c_str());
    check(value != nullptr, "what is refused is set", why);
    check(contains(why, "'" + std::string(value).substr(0, 32)), "the value is named", why);
    const std::string legal = legal_values(variable);
    check(why.size() >= legal.size() && why.compare(why.size() - legal.size(), legal.size(), legal) == 0,
          "what is legal is said", why);
}

void check_limits(const weft_settings& now, const char* counters) {
    check(now.size == sizeof now, "the size is that of the structure");
    check(now.streams >= 1 && now.streams <= 1024, "WEFT_STREAMS");
    check(now.stack_bytes >= WEFT_STACK_LEAST && now.stack_bytes <= std::size_t{1} << 40, "WEFT_STACK_BYTES");
    check(now.guard_bytes <= std::size_t{1} << 30, "WEFT_GUARD_BYTES");
    check(now.guard >= WEFT_GUARD_AUTO && now.guard <= WEFT_GUARD_NONE, "WEFT_GUARD");
    check(now.kind >= WEFT_KIND_FULL && now.kind <= WEFT_KIND_HOSTED, "WEFT_KIND");
    check(now.pool >= WEFT_POOL_DEFAULT && now.pool <= WEFT_POOL_BLOCKING && now.pool != WEFT_POOL_USER, "WEFT_POOL");
    check(
        now.scheduler >= WEFT_SCHED_DEFAULT && now.scheduler <= WEFT_SCHED_PRIORITY && now.scheduler != WEFT_SCHED_USER,
        "WEFT_SCHEDULER");
    check(now.scheduler_stack_bytes >= 32768 && now.scheduler_stack_bytes <= std::size_t{1} << 30,
          "WEFT_SCHEDULER_STACK_BYTES");
    check(now.idle_memory_bytes >= 1 && now.idle_memory_bytes <= std::size_t{1} << 40, "WEFT_IDLE_MEMORY_BYTES");
    check(now.spin_ns >= 1 && now.spin_ns <= 1000000000, "WEFT_SPIN_NS");
    check(counters == nullptr || std::strcmp(counters, "stderr") == 0 || *counters == '/' || *counters == '.',
          "WEFT_COUNTERS");
}

// What a program requests: arbitrary numbers, and a size that may be an older header's.
bool ask(Input& input, weft_settings& asked) {
    const std::uint8_t how = input.byte();
    if (how % 4 == 0) return false;
    auto number = [&input]() -> std::size_t {
        const std::uint8_t small = input.byte();
        if (small < 250) return small;
        return small == 250 ? WEFT_ALL_HARTS : std::size_t{input.word()} << (small - 251) * 8;
    };
    asked.size = how % 4 == 1 ? number() : sizeof asked;
    asked.streams = number();
    asked.stack_bytes = number();
    asked.guard_bytes = number();
    asked.guard = static_cast<weft_guard>(input.below(8));
    asked.kind = static_cast<weft_kind>(input.below(4));
    asked.pool = static_cast<weft_pool_kind>(input.below(8));
    asked.scheduler = static_cast<weft_sched_kind>(input.below(8));
    asked.scheduler_stack_bytes = number();
    asked.idle_memory_bytes = number();
    asked.spin_ns = number();
    asked.timing = input.below(2) != 0;
    return true;
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input(data, size);
    weft_settings asked{};
    const bool asks = ask(input, asked);
    for (const char* variable : variables) unsetenv(variable);
    while (!input.empty()) {
        const char* variable = variables[input.byte() % std::size(variables)];
        setenv(variable, input.text('\n').c_str(), 1);
    }
    weft::Settings settings;
    weft_status status;
    std::string said;
    {
        const Captured captured;
        status = settings.read(asks ? &asked : nullptr);
        said = captured.text();
    }
    const std::string why = weft::os::error_text();
    switch (status) {
    case WEFT_OK: check_limits(settings.values, settings.counters); break;
    case WEFT_ENVIRONMENT: check_refused(why, said); break;
    case WEFT_INVALID:
        check(asks, "only what was asked can be out of range", why);
        check(said.empty(), "the program is told, and nobody else", said);
        check(contains(why, "legal are: ") || contains(why, "set it to sizeof(weft_settings)"), "the remedy is named",
              why);
        break;
    default: check(false, "there is no other outcome", weft_status_name(status));
    }
    return 0;
}
