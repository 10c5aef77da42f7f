# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# weft::sim: the library on virtual harts, for tests of programs that use it (include/weft/sim.hpp).
# The sources are the library's, with other seams: src/os/sim instead of src/os/linux, and
# src/os/sim/seam before src on the include path. Always checked.
set(WEFT_SIM_SOURCES ${WEFT_SOURCES})
list(FILTER WEFT_SIM_SOURCES EXCLUDE REGEX "^src/os/linux/|^src/mem/.*valgrind|^src/hart/.*topology")
list(APPEND WEFT_SIM_SOURCES
  src/base/handles.cpp
  src/mem/check.cpp
  src/mem/valgrind_off.cpp
  src/hart/topology_none.cpp
  src/os/sim/account.cpp
  src/os/sim/bare_thread.cpp
  src/os/sim/clock.cpp
  src/os/sim/cpuset.cpp
  src/os/sim/error_text.cpp
  src/os/sim/fork.cpp
  src/os/sim/futex.cpp
  src/os/sim/host.cpp
  src/os/sim/local.cpp
  src/os/sim/machine.cpp
  src/os/sim/memory.cpp
  src/os/sim/process_barrier.cpp
  src/os/sim/safe_read.cpp
  src/os/sim/stack.cpp
  src/os/sim/strategy.cpp
  src/os/sim/thread.cpp
  src/os/sim/watch.cpp
  src/sim/explore.cpp
  src/sim/invariants.cpp
  src/sim/replay.cpp
  src/sim/run.cpp
  src/sim/sim.cpp
  src/sim/structures.cpp
  src/sim/table.cpp
)
block()
  set(WEFT_CHECKED_VALUE true)
  set(WEFT_VALGRIND_VALUE false)
  configure_file(src/base/config.hpp.in ${CMAKE_BINARY_DIR}/generated_sim/base/config.hpp)
endblock()

# The settings that put the seams first: for the library, and for scenarios that look inside it
# (simulation_tests.cmake).
set(WEFT_SIM_INSIDE ${CMAKE_SOURCE_DIR}/src/os/sim/seam ${CMAKE_BINARY_DIR}/generated_sim ${CMAKE_SOURCE_DIR}/src)
set(WEFT_SIM_DEFINITIONS
  "WEFT_ARCH_CONTEXT=\"arch/${WEFT_ARCH}/context.hpp\"" "WEFT_ARCH_CPU=\"os/sim/seam/arch/cpu.hpp\""
  "WEFT_ARCH_LOOK=\"os/sim/seam/arch/look.hpp\"")

add_library(weft_sim STATIC ${WEFT_SIM_SOURCES})
add_library(weft::sim ALIAS weft_sim)
set_target_properties(weft_sim PROPERTIES EXPORT_NAME sim)
target_include_directories(weft_sim
  PRIVATE ${WEFT_SIM_INSIDE}
  PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_compile_features(weft_sim INTERFACE cxx_std_20)
target_compile_definitions(weft_sim PRIVATE ${WEFT_SIM_DEFINITIONS})
# Every `make test` builds it, and the machine's bookkeeping decides its speed: less optimisation is
# nearly as good.
target_compile_options(weft_sim PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${WEFT_WARNINGS} -O1 -g1>)
if(WEFT_ARCH STREQUAL "x86_64")
  target_compile_options(weft_sim PRIVATE -mno-red-zone $<$<COMPILE_LANGUAGE:CXX>:-mno-avx512f>)
endif()
target_link_libraries(weft_sim PUBLIC Threads::Threads PRIVATE ${CMAKE_DL_LIBS})
