// What headers compile into a program of the library's layout (weft/here.hpp, weft/parallel.hpp), beside what the calls say.
#include <cstdio>

#include <weft/here.hpp>
#include <weft/parallel.hpp>
#include <weft/runtime.h>

namespace {

bool right = true;

void check(const char* what, bool holds) {
    if (holds) return;
    std::printf("wrong: %s\n", what);
    right = false;
}

int fibonacci(int n) {
    if (n < 2) return n;
    int one = 0, other = 0;
    weft::invoke([&] { one = fibonacci(n - 1); }, [&] { other = fibonacci(n - 2); });
    return one + other;
}

void body(void* argument) {
    check("the unit", weft::here::unit() == weft_unit_self());
    check("the kind", weft::here::kind() == weft_unit_self_kind());
    const weft_running* const running = weft::here::running();   // null: a library that checks handles
    check("the data", weft_unit_data(nullptr) == argument && (running == nullptr || weft::here::data_of(running) == argument));
    check("the forks", fibonacci(12) == 144);
}

}  // namespace

int main() {
    weft_settings settings{};
    settings.size = sizeof settings;
    settings.streams = 1;
    if (weft_init(&settings) != WEFT_OK) return 2;
    weft_unit_options options{};
    options.size = sizeof options;
    options.data = &right;
    weft_unit* unit = nullptr;
    if (weft_ult_spawn(nullptr, body, &right, &options, &unit) != WEFT_OK || weft_unit_free(unit) != WEFT_OK) return 3;
    weft_finalize();
    if (right) std::puts("as written");
    return right ? 0 : 1;
}
