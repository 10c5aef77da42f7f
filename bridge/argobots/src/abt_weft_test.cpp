// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls beyond Argobots' interface.
#include <abt_weft.h>

#include <atomic>

#include "test_support.hpp"

using namespace abt_test;

namespace {

ABT_thread_attr new_attr() {
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    EXPECT_EQ(ABT_thread_attr_create(&attr), ABT_SUCCESS);
    return attr;
}

}   // namespace

TEST(AbtWeft, AUltIsOfTheKindThatItsAttributeSays) {
    Library library;
    for (const weft_kind kind : {WEFT_KIND_DEFAULT, WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC, WEFT_KIND_SS,
                                 WEFT_KIND_SC, WEFT_KIND_AUTO}) {
        ABT_thread_attr attr = new_attr();
        EXPECT_EQ(ABT_weft_thread_attr_set_kind(attr, kind), ABT_SUCCESS);
        ABT_thread thread = ABT_THREAD_NULL;
        int turns = 0;
        auto body = [](void* count) {
            ++*static_cast<int*>(count);
            EXPECT_EQ(ABT_self_yield(), ABT_SUCCESS);
            ++*static_cast<int*>(count);
        };
        EXPECT_EQ(ABT_thread_create(own_pool(), body, &turns, attr, &thread), ABT_SUCCESS) << kind;
        EXPECT_EQ(ABT_thread_free(&thread), ABT_SUCCESS);
        EXPECT_EQ(turns, 2);
        EXPECT_EQ(ABT_thread_attr_free(&attr), ABT_SUCCESS);
    }
}

TEST(AbtWeft, AKindThatIsNoUltsIsRefused) {
    Library library;
    ABT_thread_attr attr = new_attr();
    EXPECT_EQ(ABT_weft_thread_attr_set_kind(attr, WEFT_KIND_TASKLET), ABT_ERR_INV_ARG);
    EXPECT_EQ(ABT_weft_thread_attr_set_kind(attr, static_cast<weft_kind>(8)), ABT_ERR_INV_ARG);
    EXPECT_EQ(ABT_weft_thread_attr_set_kind(ABT_THREAD_ATTR_NULL, WEFT_KIND_LSA), ABT_ERR_INV_THREAD_ATTR);
    EXPECT_EQ(ABT_thread_attr_free(&attr), ABT_SUCCESS);
}

TEST(AbtWeft, AMigrationIsWaitedFor) {
    Library library;
    Streams streams(2);
    static std::atomic<bool> stop;
    stop = false;
    auto travels = [](void*) {
        while (!stop.load()) EXPECT_EQ(ABT_self_yield(), ABT_SUCCESS);
    };
    ABT_thread thread = ABT_THREAD_NULL;
    ASSERT_EQ(ABT_thread_create(streams.pool(0), travels, nullptr, ABT_THREAD_ATTR_NULL, &thread), ABT_SUCCESS);
    EXPECT_EQ(ABT_weft_thread_migrate_wait(thread), ABT_SUCCESS) << "it was not asked";
    for (std::size_t i = 1; i < 5; ++i) {
        ASSERT_EQ(ABT_thread_migrate_to_pool(thread, streams.pool(i)), ABT_SUCCESS);
        EXPECT_EQ(ABT_weft_thread_migrate_wait(thread), ABT_SUCCESS);
        ABT_pool pool = ABT_POOL_NULL;
        EXPECT_EQ(ABT_thread_get_last_pool(thread, &pool), ABT_SUCCESS);
        EXPECT_EQ(pool, streams.pool(i));
    }
    stop = true;
    EXPECT_EQ(ABT_thread_free(&thread), ABT_SUCCESS);
    EXPECT_EQ(ABT_weft_thread_migrate_wait(ABT_THREAD_NULL), ABT_ERR_INV_THREAD);
}
