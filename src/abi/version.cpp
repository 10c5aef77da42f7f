// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/version.h"

#include "base/config.hpp"

using namespace weft;

extern "C" {

int weft_version(void) noexcept { return WEFT_VERSION_MAJOR * 10000 + WEFT_VERSION_MINOR * 100 + WEFT_VERSION_PATCH; }

unsigned weft_features(void) noexcept {
    unsigned features = 0;
    if (config::migration) features |= WEFT_FEATURE_MIGRATION;
    if (config::cancel) features |= WEFT_FEATURE_CANCEL;
    if (config::observers) features |= WEFT_FEATURE_OBSERVERS;
    return features;
}

}   // extern "C"
