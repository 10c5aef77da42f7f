// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests of hosted units share.
#pragma once

#include <pthread.h>

#include "test/behaviour/several.hpp"
#include "test/behaviour/support.hpp"
#include "weft/embed/hosted.h"

namespace weft_test {

inline weft_unit_options hosted() {
    weft_unit_options made = options();
    made.kind = WEFT_KIND_HOSTED;
    return made;
}

template <class Body>
weft_unit_outcome run_hosted(Body body, const weft_unit_options& how = hosted()) {
    Ult unit(body, &how);
    return unit.end();
}

// Not inlined: in a native unit, a compiler may keep a thread's value across a call that switches.
[[gnu::noinline]] inline pthread_t self() { return pthread_self(); }

inline void yield() { EXPECT_EQ(weft_unit_yield(), WEFT_OK); }

// Two streams that draw from one pool.
struct Two {
    weft_pool* const pool = make_pool(WEFT_POOL_SHARED);
    weft_stream_options of = [this] {
        weft_stream_options made = stream_options();
        made.pool = pool;
        return made;
    }();
    Stream first{&of}, second{&of};
};

}   // namespace weft_test
