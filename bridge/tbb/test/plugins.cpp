// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program without TBB that opens a library with TBB, for itself alone, and closes it again.
//
//     plugins LIBRARY
#include <dlfcn.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

class Plugin {
public:
    explicit Plugin(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr) {
            std::fprintf(stderr, "%s\n", dlerror());
            std::exit(1);
        }
        sum = reinterpret_cast<int (*)(int)>(dlsym(handle_, "plugin_sum"));
        finish = reinterpret_cast<int (*)()>(dlsym(handle_, "plugin_finish"));
    }
    ~Plugin() {
        if (handle_ != nullptr) EQUAL(dlclose(handle_), 0);
    }
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;
    void stay() { handle_ = nullptr; }

    int (*sum)(int);
    int (*finish)();

private:
    void* handle_;
};

// Opened, used, finished with and closed, again and again.
void again_and_again(const char* path) {
    for (int round = 0; round < 20; ++round) {
        Plugin plugin(path);
        EQUAL(plugin.sum(100), 2 * 4950);
        EQUAL(plugin.finish(), 1);
    }
}

// Each time by another thread, which has ended when the library is closed.
void by_threads(const char* path) {
    for (int round = 0; round < 10; ++round) {
        Plugin plugin(path);
        std::thread([&] {
            EQUAL(plugin.sum(100), 2 * 4950);
            EQUAL(plugin.finish(), 1);
        }).join();
    }
}

void by_several_threads(const char* path) {
    Plugin plugin(path);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 5; ++round) EQUAL(plugin.sum(50), 2 * 1225);
        });
    }
    for (std::thread& thread : threads) thread.join();
    EQUAL(plugin.finish(), 1);
}

// The process ends while the library is open, and TBB's workers are there.
void left_open(const char* path) {
    Plugin plugin(path);
    EQUAL(plugin.sum(100), 2 * 4950);
    plugin.stay();
}

}   // namespace

int main(int count, char** arguments) {
    if (count < 2) return 2;
    again_and_again(arguments[1]);
    by_threads(arguments[1]);
    by_several_threads(arguments[1]);
    left_open(arguments[1]);
    return verdict();
}
