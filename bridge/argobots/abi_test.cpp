// The same as C++.
#include "abi_test.c"
