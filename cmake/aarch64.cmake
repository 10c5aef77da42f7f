# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Cross-compiles for AArch64 with Debian's compiler. Programs run under qemu-user, on a processor
# with everything that the emulator supports: pointer authentication (by the emulator's own fast
# hash) and branch target identification.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_ASM_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_C_FLAGS_INIT "-mbranch-protection=standard")
set(CMAKE_CXX_FLAGS_INIT "-mbranch-protection=standard")
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/../tools/emulate)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
