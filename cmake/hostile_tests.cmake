# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Weft where resources are short: test/hostile/hostile.py runs one small program under kernel
# limits. The quick tests have a choice of the conditions, the full ones all of them; in the groups
# whose builds can detect what goes wrong. Included by tests.cmake.
if(NOT WEFT_GROUP MATCHES "^(debug|asan)$")
  return()
endif()
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

add_executable(hostile_workload test/hostile/workload.cpp)
target_link_libraries(hostile_workload PRIVATE weft_test_support)
target_compile_options(hostile_workload PRIVATE ${WEFT_WARNINGS} ${WEFT_TEST_OPTIONS})
set(options)
if(WEFT_SANITIZE)
  set(options --sanitized)
endif()
foreach(size quick full)
  string(TOUPPER ${size} upper)
  add_test(NAME hostile_${size} COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/test/hostile/hostile.py ${size}
    ${options} --program $<TARGET_FILE:hostile_workload>)
  set_tests_properties(hostile_${size} PROPERTIES LABELS "${WEFT_GROUP};${size};budget=${WEFT_BUDGET_${upper}}s")
endforeach()
