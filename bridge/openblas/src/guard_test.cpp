// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The guard in front of two libraries that stand for OpenBLAS, each opened for itself alone; the
// guard is preloaded, as CMakeLists.txt sets for the test.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.h>

// Stands in front of the C library's, for the guard and for all others: counts how often the loaded
// objects are walked.
static std::atomic<int> walks;
extern "C" [[gnu::visibility("default")]] int dl_iterate_phdr(int (*visit)(dl_phdr_info*, std::size_t, void*),
                                                              void* data) {
    static const auto next = reinterpret_cast<decltype(&dl_iterate_phdr)>(dlsym(RTLD_NEXT, "dl_iterate_phdr"));
    ++walks;
    return next(visit, data);
}

namespace {

using Multiply = int (*)(long, void (*)(long));

Multiply multiply_of(const char* variable) {
    const char* const path = std::getenv(variable);
    void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr : reinterpret_cast<Multiply>(dlsym(library, "multiply"));
}

class OpenblasGuard : public ::testing::Test {
protected:
    void SetUp() override {
        openmp = multiply_of("WEFT_BLAS_OPENMP");
        plain = multiply_of("WEFT_BLAS_PLAIN");
        if (openmp == nullptr || plain == nullptr) GTEST_SKIP() << "needs what the test of CMakeLists.txt sets";
        inside = most_inside = 0;
    }

    static void enter() {
        const int now = ++inside;
        for (int most = most_inside; now > most && !most_inside.compare_exchange_weak(most, now);) {}
    }

    static inline Multiply openmp = nullptr, plain = nullptr;
    static inline std::atomic<int> inside{0}, most_inside{0};
};

void spawn(weft_unit*& unit, weft_kind kind, void (*body)(void*)) {
    weft_unit_options how{};
    how.size = sizeof how;
    how.kind = kind;
    EXPECT_EQ(weft_ult_spawn(nullptr, body, nullptr, &how, &unit), WEFT_OK) << weft_error_text();
}

TEST_F(OpenblasGuard, UnitsOfOneStreamAreInsideOneAfterTheOther) {
    alarm(60);
    weft_settings settings{};
    settings.size = sizeof settings;
    settings.streams = 1;
    settings.rescue = WEFT_RESCUE_OFF;
    ASSERT_EQ(weft_init(&settings), WEFT_OK);
    auto body = [](void*) {
        for (int i = 0; i < 20; ++i) {
            EXPECT_EQ(openmp(3,
                             [](long count) {
                                 EXPECT_EQ(count, 3);
                                 enter();
                                 weft_unit_yield();   // holding the slot
                                 --inside;
                             }),
                      8);
        }
    };
    weft_unit* units[6];
    for (int i = 0; i < 6; ++i) spawn(units[i], i % 2 == 0 ? WEFT_KIND_HOSTED : WEFT_KIND_FULL, body);
    body(nullptr);   // the primary unit as well
    EXPECT_EQ(weft_unit_join_free_many(units, 6), WEFT_OK);
    EXPECT_EQ(weft_finalize(), WEFT_OK);
    EXPECT_EQ(most_inside, 1);
}

// It frees what callers that are inside may be using.
TEST_F(OpenblasGuard, TheNumberOfThreadsChangesWhenNobodyIsInside) {
    using SetThreads = void (*)(int, void (*)(int));
    void* const library = dlopen(std::getenv("WEFT_BLAS_OPENMP"), RTLD_NOW | RTLD_LOCAL);
    static const auto set_threads = reinterpret_cast<SetThreads>(dlsym(library, "set_threads"));
    ASSERT_NE(set_threads, nullptr);
    static std::atomic<int> changes;
    changes = 0;
    std::thread changer([] {
        for (int i = 0; i < 1000; ++i) {
            set_threads(5, [](int count) {
                changes += count == 5 ? 1 : 0;
                enter();
                --inside;
            });
        }
    });
    for (int i = 0; i < 1000; ++i) {
        openmp(1, [](long) {
            enter();
            --inside;
        });
    }
    changer.join();
    EXPECT_EQ(changes, 1000);
    EXPECT_EQ(most_inside, 1);
    // A nested call is OpenBLAS' own affair, and the caller does not wait for itself.
    openmp(1, [](long) { set_threads(5, [](int count) { changes += count; }); });
    EXPECT_EQ(changes, 1005);
}

TEST_F(OpenblasGuard, ThreadsOutsideAreInsideOneAfterTheOther) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([] {
            for (int j = 0; j < 1000; ++j) {
                openmp(1, [](long) {
                    enter();
                    --inside;
                });
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(most_inside, 1);
}

TEST_F(OpenblasGuard, WhoIsInsideMayCallAgain) {
    EXPECT_EQ(openmp(1, [](long) { EXPECT_EQ(openmp(2, [](long) { enter(); }), 8); }), 8);
    EXPECT_EQ(inside, 1);
}

TEST_F(OpenblasGuard, OneThatKeepsItsHolderInsideAsAGuestIsLetGoAllTheSame) {
    // It enters as a thread outside, and leaves as a guest.
    EXPECT_EQ(openmp(1, [](long) { EXPECT_EQ(weft_guest_enter(), WEFT_OK); }), 8);
    EXPECT_EQ(weft_guest_leave(), WEFT_OK);
    std::thread([] { EXPECT_EQ(openmp(1, [](long) { enter(); }), 8); }).join();
    EXPECT_EQ(inside, 1);
}

TEST_F(OpenblasGuard, InTheChildOfAForkNobodyIsInside) {
    std::atomic<bool> go{false};
    static std::atomic<bool>* waits_for = &go;
    waits_for = &go;
    std::thread other([] {
        openmp(1, [](long) {
            enter();
            while (!*waits_for) std::this_thread::yield();
        });
    });
    while (inside == 0) std::this_thread::yield();
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);
        _exit(openmp(1, [](long) {}) == 8 ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    go = true;
    other.join();
}

// Whether a second thread gets in while one is inside.
bool two_are_inside(Multiply multiply) {
    static std::atomic<int> there;
    static std::atomic<bool> first_may_go;
    there = 0;
    first_may_go = false;
    std::thread first([multiply] {
        multiply(1, [](long) {
            ++there;
            while (!first_may_go) std::this_thread::yield();
        });
    });
    while (there == 0) std::this_thread::yield();
    std::atomic<bool> second_calls{false};
    std::thread second([&] {
        second_calls = true;
        multiply(1, [](long) { ++there; });
    });
    while (!second_calls) std::this_thread::yield();
    // A second thread that is to be kept out has had every chance to get in; otherwise it must get
    // in.
    for (int i = 0; i < 1000 && there != 2; ++i) std::this_thread::yield();
    const bool both = there == 2;
    first_may_go = true;
    first.join();
    second.join();
    EXPECT_EQ(there, 2);
    return both;
}

TEST_F(OpenblasGuard, OneWithThreadsOfItsOwnIsGuardedToo) { EXPECT_FALSE(two_are_inside(plain)); }

TEST_F(OpenblasGuard, AnotherLibraryAtTheAddressOfOneThatIsGoneIsGuarded) {
    const char* const paths[] = {std::getenv("WEFT_BLAS_OPENMP_FIXED"), std::getenv("WEFT_BLAS_PLAIN_FIXED")};
    ASSERT_TRUE(paths[0] != nullptr && paths[1] != nullptr);
    const void* last = nullptr;
    for (int i = 0; i < 6; ++i) {
        void* const library = dlopen(paths[i % 2], RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(library, nullptr) << dlerror();
        const auto multiply = reinterpret_cast<Multiply>(dlsym(library, "multiply"));
        ASSERT_TRUE(last == nullptr || reinterpret_cast<const void*>(multiply) == last)
            << "not at the same address: the test shows nothing";
        last = reinterpret_cast<const void*>(multiply);
        EXPECT_EQ(multiply(1, [](long) {}), 8);
        EXPECT_FALSE(two_are_inside(multiply));
        EXPECT_EQ(dlclose(library), 0);
        EXPECT_EQ(dlopen(paths[i % 2], RTLD_NOW | RTLD_NOLOAD), nullptr) << "the guard keeps the library loaded";
    }
}

// Copies of a library, each of which is a separate one to the loader.
struct Copies {
    std::filesystem::path folder;
    std::vector<void*> handles;
    std::vector<Multiply> all;

    Copies(const char* path, int count) {
        char name[] = "/tmp/weft_blas_XXXXXX";
        folder = mkdtemp(name);
        for (int i = 0; i < count; ++i) {
            const auto copy = folder / ("copy" + std::to_string(i) + ".so");
            std::filesystem::copy_file(path, copy);
            handles.push_back(dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL));
            EXPECT_NE(handles.back(), nullptr) << dlerror();
            all.push_back(reinterpret_cast<Multiply>(dlsym(handles.back(), "multiply")));
        }
    }
    ~Copies() {
        for (void* const handle : handles) dlclose(handle);
        std::filesystem::remove_all(folder);
    }
};

TEST_F(OpenblasGuard, AHundredLibrariesAreLookedUpOnceEach) {
    for (const char* const path : {std::getenv("WEFT_BLAS_OPENMP"), std::getenv("WEFT_BLAS_PLAIN")}) {
        const Copies copies(path, 100);
        for (const Multiply multiply : copies.all) EXPECT_EQ(multiply(1, [](long) {}), 8);
        const int before = walks;
        for (int i = 0; i < 3; ++i) {
            for (const Multiply multiply : copies.all) EXPECT_EQ(multiply(1, [](long) {}), 8);
        }
        EXPECT_EQ(walks, before);
        EXPECT_FALSE(two_are_inside(copies.all.back()));
    }
}

TEST_F(OpenblasGuard, LibrariesThatAreGoneLeaveRoomForOthers) {
    for (int i = 0; i < 6; ++i) {
        const Copies copies(std::getenv("WEFT_BLAS_OPENMP"), 60);
        for (const Multiply multiply : copies.all) EXPECT_EQ(multiply(1, [](long) {}), 8);
        EXPECT_FALSE(two_are_inside(copies.all.back()));
    }
}

TEST_F(OpenblasGuard, ACallByAnAddressFromTheLoaderMeansTheOpenBlasOfItsCaller) {
    using ByAddress = int (*)(int (*)(long, void*), void (*)(long));
    void* const library = dlopen(std::getenv("WEFT_BLAS_OPENMP"), RTLD_NOW | RTLD_LOCAL);
    const auto run = reinterpret_cast<ByAddress>(dlsym(library, "call_by_address"));
    const auto generic = reinterpret_cast<int (*)(long, void*)>(dlsym(RTLD_DEFAULT, "exec_blas"));
    ASSERT_TRUE(run != nullptr && generic != nullptr);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(run(generic, [](long) { enter(); }), 9);
    EXPECT_EQ(inside, 3);
    dlclose(library);
}

}   // namespace
