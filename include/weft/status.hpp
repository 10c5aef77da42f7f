// What a call came to, in C++: a status that is not WEFT_OK becomes an exception.
// The C++ headers stand on the C interface alone and hold nothing that it does not offer.
#pragma once

#include <stdexcept>
#include <string>

#include <weft/status.h>

/** Weft: user-level threads, tasklets, and the pools, schedulers and streams that run them. */
namespace weft {
/** The C++ interface of version 0. Inline, so it is never written; it keeps the names that the linker
 * sees apart from the library's own. */
inline namespace v0 {

/** What the C++ interface throws when a call of the C interface fails. */
class WEFT_API error : public std::runtime_error {
public:
    /** An error with the library's sentence about the last failing call of this OS thread. */
    explicit error(weft_status code) : std::runtime_error(text(code)), code_(code) {}

    /** An error with a sentence of the caller's. */
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

/** Throws weft::error when `status` is not WEFT_OK. To be called before the unit can switch, because the
 * sentence belongs to the OS thread. */
inline void check(weft_status status) {
    if (status != WEFT_OK) [[unlikely]] throw error(status);
}

/** The version of the library that is running, as MAJOR * 10000 + MINOR * 100 + PATCH. */
inline int version() noexcept { return weft_version(); }

}  // namespace v0
}  // namespace weft
