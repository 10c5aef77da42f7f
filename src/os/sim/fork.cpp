// A virtual machine has one process, and whoever forks that forks a real one.
#include "os/fork.hpp"

namespace weft::os {

bool at_fork(void (*)()) { return true; }

}   // namespace weft::os
