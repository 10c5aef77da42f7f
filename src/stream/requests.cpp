#include "stream/requests.hpp"

#include "stream/join.hpp"

namespace weft {

Stream& heed(Unit& self, std::uint8_t which) {
    if ((which & Unit::cancel) != 0 && self.marked(Unit::cancel)) {
        end_with(self, WEFT_CANCELLED);
        finish();
    }
    return current();
}

bool starts(Unit& unit) {
    if (!unit.marked(Unit::cancel)) return true;
    end_with(unit, WEFT_CANCELLED);
    return false;
}

}  // namespace weft
