// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests share of units that are stuck where no other stream may run what they wait for.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "test/behaviour/waiting.hpp"

namespace weft_test {

inline weft_settings one_stream(weft_rescue rescue = WEFT_RESCUE_ON, weft_pool_kind pool = WEFT_POOL_DEFAULT) {
    weft_settings settings = with_streams(1);
    settings.rescue = rescue;
    settings.pool = pool;
    return settings;
}

inline weft_unit_options named(const char* name) {
    weft_unit_options made = options();
    made.name = name;
    return made;
}

// Captures standard error until it ends.
class Said {
public:
    Said() { testing::internal::CaptureStderr(); }
    ~Said() {
        if (!over_) testing::internal::GetCapturedStderr();
    }
    std::string text() {
        over_ = true;
        return testing::internal::GetCapturedStderr();
    }

private:
    bool over_ = false;
};

// Another process that, after a little more than a second, ends a wait that nothing in this process
// would end.
class FromOutside {
public:
    explicit FromOutside(int end) : child_(fork()) {
        if (child_ != 0) return;
        usleep(1'150'000);
        _exit(write(end, "a", 1) == 1 ? 0 : 1);
    }
    ~FromOutside() { EXPECT_EQ(waitpid(child_, nullptr, 0), child_); }

private:
    pid_t child_;
};

// A unit reads from a pipe what the unit behind it would write.
inline std::string said_of_a_reader(const weft_settings& settings) {
    Said said;
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    {
        const FromOutside writes(ends[1]);
        Runtime runtime(settings);
        const weft_unit_options options = named("reader");
        Ult reader(
            [&] {
                char byte;
                EXPECT_EQ(read(ends[0], &byte, 1), 1);
            },
            &options);
        Ult writer([&] { EXPECT_EQ(write(ends[1], "b", 1), 1); });
        EXPECT_EQ(reader.join(), WEFT_OK);
        EXPECT_EQ(writer.join(), WEFT_OK);
    }
    close(ends[0]);
    close(ends[1]);
    return said.text();
}

}   // namespace weft_test
