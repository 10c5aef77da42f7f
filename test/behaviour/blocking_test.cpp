// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocking sections, and calls on the stream's stack.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

// A named pipe in a directory of its own.
class Pipe {
public:
    Pipe() {
        EXPECT_NE(mkdtemp(folder_), nullptr);
        path_ = std::string(folder_) + "/fifo";
        EXPECT_EQ(mkfifo(path_.c_str(), 0600), 0);
    }
    ~Pipe() {
        unlink(path_.c_str());
        rmdir(folder_);
    }
    const char* path() const { return path_.c_str(); }

private:
    char folder_[32] = "/tmp/weft_test_XXXXXX";
    std::string path_;
};

TEST(Blocking, LetsOtherUnitsGoOnThoughAReaderSleepsInAFifoOnEveryStream) {
    Runtime runtime(2);
    constexpr std::size_t readers = 5;   // more than there are streams
    Pipe pipes[readers];
    atomic<int> read_all{0};
    std::vector<std::unique_ptr<Ult>> all;
    for (std::size_t i = 0; i < readers; ++i) {
        all.push_back(std::make_unique<Ult>(
            [&, i] {
                EXPECT_EQ(weft_blocking(
                              [](void* raw) {
                                  // blocks until a writer opens the pipe
                                  const int descriptor = open(static_cast<Pipe*>(raw)->path(), O_RDONLY | O_CLOEXEC);
                                  char text[8] = {};
                                  EXPECT_EQ(read(descriptor, text, sizeof text), 3);
                                  close(descriptor);
                              },
                              &pipes[i]),
                          WEFT_OK);
                ++read_all;
            },
            nullptr, pool_of(i % 2)));
    }
    until([&] { return waiting_for("blocking call") == readers; });
    atomic<int> others{0};
    for (std::size_t rank : {0u, 1u}) {
        Ult other([&] { ++others; }, nullptr, pool_of(rank));
        EXPECT_EQ(other.join(), WEFT_OK);
    }
    EXPECT_EQ(others, 2);
    EXPECT_EQ(read_all, 0);
    for (Pipe& pipe : pipes) {
        const int descriptor = open(pipe.path(), O_WRONLY | O_CLOEXEC);
        EXPECT_EQ(write(descriptor, "abc", 3), 3);
        close(descriptor);
    }
    all.clear();
    EXPECT_EQ(read_all, static_cast<int>(readers));
}

// Each call waits for the next one: with fewer threads than calls, no call would ever return.
TEST(Blocking, FindsAThreadForEachOfManyCalls) {
    Runtime runtime;
    constexpr std::size_t count = 40;
    struct Chain {
        atomic<std::size_t> turn{count - 1};
        atomic<std::size_t> next{0};
    } chain;
    std::vector<std::unique_ptr<Ult>> all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back(std::make_unique<Ult>([&] {
            EXPECT_EQ(weft_blocking(
                          [](void* raw) {
                              auto* to = static_cast<Chain*>(raw);
                              const std::size_t mine = to->next++;
                              while (to->turn != mine) std::this_thread::sleep_for(std::chrono::microseconds(100));
                              --to->turn;
                          },
                          &chain),
                      WEFT_OK);
        }));
    }
    all.clear();
}

TEST(Blocking, BringsErrnoBack) {
    Runtime runtime;
    errno = 0;
    EXPECT_EQ(weft_blocking([](void*) { errno = ENOTDIR; }, nullptr), WEFT_OK);
    EXPECT_EQ(errno, ENOTDIR);
}

TEST(Blocking, IsAPlainCallOutsideOfStreamsAndRefusedWhereNobodyCanWait) {
    Runtime runtime;
    std::thread other([] {
        bool called = false;
        EXPECT_EQ(weft_blocking([](void* raw) { *static_cast<bool*>(raw) = true; }, &called), WEFT_OK);
        EXPECT_TRUE(called);
    });
    other.join();
    EXPECT_EQ(weft_blocking(nullptr, nullptr), WEFT_INVALID);
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(
        weft_tasklet_spawn(
            nullptr,
            [](void*) { EXPECT_EQ(weft_blocking([](void*) { ADD_FAILURE() << "called"; }, nullptr), WEFT_WRONG_KIND); },
            nullptr, nullptr, &tasklet),
        WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
}

// ---- the stream's stack -------------------------------------------------------------------------

[[gnu::noinline]] void large_frame(void* raw) {
    volatile char frame[128 * 1024];
    for (std::size_t i = 0; i < sizeof frame; i += 512) frame[i] = static_cast<char>(i);
    *static_cast<char*>(raw) = frame[512 * 3] == static_cast<char>(512 * 3) ? 'y' : 'n';
}

TEST(StreamStack, HasRoomForALargeFrame) {
    Runtime runtime(2);
    for (std::size_t rank : {0u, 1u}) {
        auto small = options();
        small.stack_bytes = 32768;
        char answer = 0;
        Ult unit([&] { EXPECT_EQ(weft_on_stream_stack(large_frame, &answer), WEFT_OK); }, &small, pool_of(rank));
        EXPECT_EQ(unit.join(), WEFT_OK);
        EXPECT_EQ(answer, 'y');
    }
    char answer = 0;
    EXPECT_EQ(weft_on_stream_stack(large_frame, &answer), WEFT_OK);   // from the primary unit
    EXPECT_EQ(answer, 'y');
}

TEST(StreamStack, ComesBackToTheUnitWithErrnoAndNobodyInBetween) {
    Runtime runtime;
    bool other_ran = false;
    Ult other([&] { other_ran = true; });
    errno = 0;
    EXPECT_EQ(weft_on_stream_stack(
                  [](void* raw) {
                      EXPECT_EQ(weft_unit_self(), nullptr);
                      EXPECT_EQ(weft_unit_yield(), WEFT_WRONG_CONTEXT);
                      EXPECT_EQ(weft_sleep_for(ms), WEFT_WRONG_CONTEXT);
                      EXPECT_FALSE(*static_cast<bool*>(raw));
                      errno = EDOM;
                  },
                  &other_ran),
              WEFT_OK);
    EXPECT_EQ(errno, EDOM);
    EXPECT_FALSE(other_ran);
}

TEST(StreamStack, IsAPlainCallWhereTheCallerStandsOnALargeStackAlready) {
    Runtime runtime;
    auto note = [](void* raw) { *static_cast<bool*>(raw) = true; };
    std::thread thread([&] {
        bool called = false;
        EXPECT_EQ(weft_on_stream_stack(note, &called), WEFT_OK);
        EXPECT_TRUE(called);
    });
    thread.join();
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr,
                  [](void*) {
                      char answer = 0;
                      EXPECT_EQ(weft_on_stream_stack(large_frame, &answer), WEFT_OK);
                      EXPECT_EQ(answer, 'y');
                  },
                  nullptr, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    EXPECT_EQ(weft_on_stream_stack(nullptr, nullptr), WEFT_INVALID);
}

}   // namespace
