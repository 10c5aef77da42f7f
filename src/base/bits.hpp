// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words of bits. Each word has a type of its own, so that a bit of one word cannot be tested in
// another.
#pragma once

#include <type_traits>

namespace weft {

// `Of` tells the words apart; `Word` is the unsigned integer that the bits lie in.
template <class Of, class Word>
struct Bits {
    static_assert(std::is_unsigned_v<Word>);

    Word word = 0;

    [[nodiscard]] constexpr bool any() const { return word != 0; }
    [[nodiscard]] constexpr bool has(Bits which) const { return (word & which.word) != 0; }   // one of them
    [[nodiscard]] constexpr bool has_all(Bits which) const { return (word & which.word) == which.word; }
    [[nodiscard]] constexpr Bits without(Bits which) const { return {static_cast<Word>(word & ~which.word)}; }
    // These bits, or none.
    [[nodiscard]] constexpr Bits only_if(bool so) const { return so ? *this : Bits{}; }

    constexpr void operator|=(Bits more) { word |= more.word; }
    friend constexpr Bits operator|(Bits one, Bits other) { return {static_cast<Word>(one.word | other.word)}; }
    friend constexpr Bits operator&(Bits one, Bits other) { return {static_cast<Word>(one.word & other.word)}; }
    friend constexpr bool operator==(Bits, Bits) = default;
};

}   // namespace weft
