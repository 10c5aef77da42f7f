// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What most sources of the library include, compiled once for all of them.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <unordered_map>

#include "process/process.hpp"
