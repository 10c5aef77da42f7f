// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text that is assembled in place, where nothing may be allocated: it is cut off at the end of its
// room.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdio>

namespace weft {

template <std::size_t bytes>
class Text {
public:
    [[gnu::format(printf, 2, 3)]] void put(const char* format, ...) {
        va_list arguments;
        va_start(arguments, format);
        const int length = std::vsnprintf(text_ + length_, bytes - length_, format, arguments);
        va_end(arguments);
        if (length > 0)
            length_ = length_ + static_cast<std::size_t>(length) < bytes ? length_ + static_cast<std::size_t>(length)
                                                                         : bytes - 1;
    }

    bool empty() const { return length_ == 0; }
    const char* c_str() const { return text_; }

private:
    char text_[bytes] = {};
    std::size_t length_ = 0;
};

}   // namespace weft
