# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Checks that the benches compile: `make test` does not run them, and builds none that it does not
# run. Included by tests.cmake; in the release group, if Google Benchmark is found. No code is
# generated, so that the check takes seconds (20 on one processor), and nothing is kept. No
# precompiled header, which would hide a missing include. Of the peers, only those that need nothing
# else; bench/promotion has tests.
find_package(benchmark QUIET)
if(NOT WEFT_GROUP STREQUAL "release" OR NOT benchmark_FOUND OR CMAKE_CROSSCOMPILING)
  return()
endif()

file(GLOB weft_bench_files CONFIGURE_DEPENDS bench/*.cpp bench/argobots/*.cpp)
add_library(benches_compile OBJECT EXCLUDE_FROM_ALL ${weft_bench_files} bench/peers/pthread.cpp)
target_include_directories(benches_compile PRIVATE bench bench/${WEFT_ARCH})
target_link_libraries(benches_compile PRIVATE weft benchmark::benchmark)
target_compile_options(benches_compile PRIVATE ${WEFT_WARNINGS} -O0 -g0 -fsyntax-only)
# Benches that measure what no public header shows, as in bench/CMakeLists.txt.
set_source_files_properties(bench/switch.cpp bench/hosted.cpp PROPERTIES
  INCLUDE_DIRECTORIES "${CMAKE_SOURCE_DIR}/src;${CMAKE_BINARY_DIR}/generated"
  COMPILE_DEFINITIONS "$<TARGET_PROPERTY:weft_objects,INTERFACE_COMPILE_DEFINITIONS>")

add_test(NAME house_benches_compile COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target benches_compile)
weft_label(house_benches_compile quick)
