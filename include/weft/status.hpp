// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The outcome of a call in C++: a status other than WEFT_OK becomes an exception. The C++ headers
// use the C interface alone, and offer nothing that it does not offer.
#pragma once

#include <weft/language.hpp>

#include <stdexcept>
#include <string>

#include <weft/status.h>

/** Weft: user-level threads, tasklets, and the pools, schedulers and streams that run them. */
namespace weft {
/** The C++ interface of version 0. The namespace is inline, so programs never write it; it keeps
 * the symbols of the headers apart from the library's own. */
inline namespace v0 {

/** What the C++ interface throws when a call of the C interface fails. */
class WEFT_API error : public std::runtime_error {
public:
    /** An error with the library's message about the last failed call of this OS thread. */
    explicit error(weft_status code) : std::runtime_error(text(code)), code_(code) {}

    /** An error with a message of the caller's choice. */
    error(weft_status code, const std::string& what) : std::runtime_error(what), code_(code) {}

    /** The status that the call returned. */
    weft_status code() const noexcept { return code_; }

private:
    static std::string text(weft_status code) {
        const char* const sentence = weft_error_text();
        return std::string(weft_status_name(code)) + (*sentence == '\0' ? "" : ": ") + sentence;
    }

    weft_status code_;
};

/** Throws weft::error when `status` is not WEFT_OK. Must be called before the unit can switch,
 * because the message belongs to the OS thread. */
inline void check(weft_status status) {
    if (status != WEFT_OK) [[unlikely]]
        throw error(status);
}

/** The version of the library that is running, as MAJOR * 10000 + MINOR * 100 + PATCH. */
inline int version() noexcept { return weft_version(); }

/** The features that a library may have been built without. Since 0.4. */
enum class feature : unsigned {
    migration = WEFT_FEATURE_MIGRATION, /**< units can be asked to migrate to other pools */
    cancel = WEFT_FEATURE_CANCEL,       /**< units can be asked to end */
    observers = WEFT_FEATURE_OBSERVERS  /**< observers of units, and the trace */
};

/** Whether the library that is running was built with this feature. A call that needs a missing
 * feature throws weft::error with WEFT_UNSUPPORTED. Since 0.4. */
inline bool has(feature which) noexcept { return (weft_features() & static_cast<unsigned>(which)) != 0; }

}   // namespace v0
}   // namespace weft
