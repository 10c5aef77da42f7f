// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a thread is with respect to TBB. A hosted unit has its own word.
#pragma once

namespace weft_tbb {

enum class Place : unsigned char {
    outside,
    inside,   // between the outermost of TBB's entries and its end
    worker    // one of TBB's workers, from its beginning to its end
};

inline thread_local constinit Place place_word [[gnu::tls_model("initial-exec")]] = Place::outside;

inline Place place_here() { return place_word; }

class Stay {
public:
    explicit Stay(Place place) : before_(place_word) { place_word = place; }
    ~Stay() { place_word = before_; }
    Stay(const Stay&) = delete;
    Stay& operator=(const Stay&) = delete;

private:
    const Place before_;
};

}   // namespace weft_tbb
