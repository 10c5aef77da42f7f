# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The fuzzers of test/fuzz, under libFuzzer (clang; Debian: libclang-rt-14-dev). Included instead of
# tests.cmake by the preset fuzz.
#
# Each test/fuzz/x_fuzz.cpp is a program with two tests: fuzz_x_corpus runs the inputs in
# test/fuzz/corpus/x once (full), and fuzz_x goes on from there for a minute (soak). Its findings
# stay in the build folder; its seed is in the first lines.
enable_testing()

file(GLOB weft_fuzz_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/test/fuzz/*_fuzz.cpp)
foreach(file ${weft_fuzz_files})
  get_filename_component(name ${file} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" name ${name})
  set(target fuzz_${name})
  set(corpus ${CMAKE_SOURCE_DIR}/test/fuzz/corpus/${name})
  set(found ${CMAKE_BINARY_DIR}/fuzz/${name})
  file(MAKE_DIRECTORY ${found})
  add_executable(${target} ${file})
  target_link_libraries(${target} PRIVATE weft_objects Threads::Threads ${CMAKE_DL_LIBS})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(${target} PRIVATE ${WEFT_WARNINGS})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  # -timeout: seconds for one input, which needs milliseconds. A crash leaves its input beside those
  # found before.
  set(limits -timeout=20 -rss_limit_mb=2048 -artifact_prefix=${CMAKE_BINARY_DIR}/fuzz/${name}-)
  add_test(NAME ${target}_corpus COMMAND ${target} -runs=0 ${limits} ${corpus})
  add_test(NAME ${target} COMMAND ${target} -max_total_time=60 -print_final_stats=1 ${limits} ${found} ${corpus})
  set_tests_properties(${target}_corpus PROPERTIES LABELS "${WEFT_GROUP};full;budget=${WEFT_BUDGET_FULL}s")
  set_tests_properties(${target} PROPERTIES LABELS "${WEFT_GROUP};soak;budget=${WEFT_BUDGET_SOAK}s")
endforeach()
