// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of a call of OpenBLAS' exec_blas, in libraries that stand in for OpenBLAS: their
// `multiply` only makes this call. Run alone, and with libweft_openblas preloaded (README.md).
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

using Multiply = int (*)(long count, void (*body)(long count));

int main(int count, char** arguments) {
    for (int i = 1; i < count; ++i) {
        void* const library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
        const auto multiply = library == nullptr ? nullptr : reinterpret_cast<Multiply>(dlsym(library, "multiply"));
        if (multiply == nullptr) {
            std::fprintf(stderr, "%s: %s\n", arguments[i], dlerror());
            return 1;
        }
        constexpr int calls = 100'000, rounds = 50;
        double best = 1e9;
        for (int round = 0; round < rounds; ++round) {
            const auto begin = std::chrono::steady_clock::now();
            for (int call = 0; call < calls; ++call) multiply(1, [](long) {});
            best = std::min(
                best,
                std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / calls);
        }
        std::printf("%s: %.1f ns a call\n", arguments[i], best);
    }
    return 0;
}
