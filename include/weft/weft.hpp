// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weft's C++ interface, in reading order. Declares nothing itself.
#pragma once

#include <weft/language.hpp>

#include <weft/algorithm.hpp>
#include <weft/arena.hpp>
#include <weft/domain.hpp>
#include <weft/guest.hpp>
#include <weft/hart.hpp>
#include <weft/io.hpp>
#include <weft/local.hpp>
#include <weft/parallel.hpp>
#include <weft/pool.hpp>
#include <weft/runtime.hpp>
#include <weft/sched.hpp>
#include <weft/spawn.hpp>
#include <weft/status.hpp>
#include <weft/stream.hpp>
#include <weft/sync.hpp>
#include <weft/thread.hpp>
#include <weft/trace.hpp>
#include <weft/unit.hpp>
