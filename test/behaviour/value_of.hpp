// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The value that a getter of the C interface returns: value_of(weft_unit_id_get, unit).
#pragma once

#include <gtest/gtest.h>

#include "weft/status.h"

namespace weft_test {

template <class Value, class Object, class Handle>
Value value_of(weft_status (*get)(Object* object, Value* value), Handle* object) {
    Value value{};
    EXPECT_EQ(get(object, &value), WEFT_OK) << weft_error_text();
    return value;
}

}   // namespace weft_test
