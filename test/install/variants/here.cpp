// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What headers compile into a program that knows the library's layout (weft/embed/here.hpp,
// weft/parallel.hpp), compared with what the calls return.
#include <cstdio>

#include <weft/local.h>
#include <weft/runtime.h>
#include <weft/embed/here.hpp>
#include <weft/parallel.hpp>

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
    check("the data",
          weft_unit_self_data() == argument && (running == nullptr || weft::here::data_of(running) == argument));
    check("the forks", fibonacci(12) == 144);
}

// Keys that reuse the places of earlier keys, and more keys than are read at once.
void keys() {
    constexpr int many = 8;
    weft_key* made[many];
    int values[many] = {};
    weft_key_options options{};
    options.size = sizeof options;
    options.lasting = true;
    weft_unit* const self = weft_unit_self();
    for (int round = 0; round < 3; ++round) {
        for (weft_key*& key : made) {
            if (weft_key_create_with(&options, &key) != WEFT_OK) check("a key", false);
        }
        for (int i = 0; i < many; ++i) {
            check("no value", weft::here::value_of(self, made[i]) == nullptr);
            check("a value that is set", weft_unit_local_set(self, made[i], &values[i]) == WEFT_OK);
        }
        for (int i = 0; i < many; ++i) check("a value", weft::here::value_of(self, made[i]) == &values[i]);
        for (weft_key* key : made) weft_key_free(key);
    }
}

}   // namespace

int main() {
    weft_settings settings{};
    settings.size = sizeof settings;
    settings.streams = 1;
    if (weft_init(&settings) != WEFT_OK) return 2;
    keys();
    weft_unit_options options{};
    options.size = sizeof options;
    options.data = &right;
    weft_unit* unit = nullptr;
    if (weft_ult_spawn(nullptr, body, &right, &options, &unit) != WEFT_OK || weft_unit_join_free(unit) != WEFT_OK)
        return 3;
    weft_finalize();
    if (right) std::puts("as written");
    return right ? 0 : 1;
}
