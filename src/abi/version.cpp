#include "weft/version.h"

#include "base/config.hpp"

using namespace weft;

extern "C" {

int weft_version(void) noexcept { return WEFT_VERSION_MAJOR * 10000 + WEFT_VERSION_MINOR * 100 + WEFT_VERSION_PATCH; }

unsigned weft_features(void) noexcept {
    return (config::migration ? WEFT_FEATURE_MIGRATION : 0u) | (config::cancel ? WEFT_FEATURE_CANCEL : 0u) | (config::observers ? WEFT_FEATURE_OBSERVERS : 0u);
}

}  // extern "C"
