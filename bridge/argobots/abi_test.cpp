// abi_test.c, compiled as C++.
#include "abi_test.c"
