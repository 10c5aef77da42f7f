#include "weft/version.h"

extern "C" int weft_version(void) noexcept {
    return WEFT_VERSION_MAJOR * 10000 + WEFT_VERSION_MINOR * 100 + WEFT_VERSION_PATCH;
}
