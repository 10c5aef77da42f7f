// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace weft_test {

// An empty file for the duration of a test. It lies in memory: nothing is left of it wherever the
// process ends, and two processes never share a name. A program that this process starts opens it
// by the same name.
class File {
public:
    File() : descriptor_(memfd_create("weft-test", 0)), name_("/proc/self/fd/" + std::to_string(descriptor_)) {
        EXPECT_GE(descriptor_, 0) << std::strerror(errno);
    }
    ~File() { close(descriptor_); }
    File(const File&) = delete;

    const char* name() const { return name_.c_str(); }
    std::string text() const {
        std::ifstream file(name_, std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
    void clear() { EXPECT_EQ(ftruncate(descriptor_, 0), 0) << std::strerror(errno); }

private:
    const int descriptor_;
    const std::string name_;
};

}   // namespace weft_test
