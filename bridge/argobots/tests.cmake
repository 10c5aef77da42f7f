# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The bridge's tests lie beside its code, as x_test.cpp, and include only abt.h, so they could test
# any other libabt as well.
add_library(weft_abt_test_main OBJECT ${CMAKE_SOURCE_DIR}/test/main.cpp)
target_link_libraries(weft_abt_test_main PRIVATE GTest::gtest)

add_executable(weft_abt_test_pch EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/test/pch.cpp)
target_link_libraries(weft_abt_test_pch PRIVATE GTest::gtest)
target_compile_options(weft_abt_test_pch PRIVATE ${WEFT_WARNINGS} ${WEFT_TEST_OPTIONS})
target_precompile_headers(weft_abt_test_pch PRIVATE <gtest/gtest.h>)

file(GLOB weft_abt_test_files CONFIGURE_DEPENDS src/*_test.cpp)
if(WEFT_SANITIZE)
  list(FILTER weft_abt_test_files EXCLUDE REGEX "faults_test")   # it replaces malloc, as sanitizers do
endif()
foreach(file ${weft_abt_test_files})
  get_filename_component(name ${file} NAME_WE)
  add_executable(abt_${name} ${file})
  target_link_libraries(abt_${name} PRIVATE weft_abt_test_main weft_abt_static GTest::gtest Threads::Threads)
  target_compile_options(abt_${name} PRIVATE ${WEFT_WARNINGS} ${WEFT_TEST_OPTIONS})
  target_precompile_headers(abt_${name} REUSE_FROM weft_abt_test_pch)
  add_test(NAME abt_${name} COMMAND abt_${name} ${WEFT_TEST_ARGUMENTS})
  weft_label(abt_${name} quick)
endforeach()

# Every function, with each of its requests to the system refused in turn, also in programs with
# sanitizers: the linker redirects the calls of the static libraries to test/refuse.cpp.
file(GLOB weft_abt_refused_files CONFIGURE_DEPENDS test/*.cpp)
add_executable(abt_refused_test ${weft_abt_refused_files})
target_compile_definitions(abt_refused_test PRIVATE ABT_HEADER="${CMAKE_CURRENT_SOURCE_DIR}/abt.h")
target_link_libraries(abt_refused_test PRIVATE weft_abt_test_main weft_abt_static GTest::gtest Threads::Threads)
target_compile_options(abt_refused_test PRIVATE ${WEFT_WARNINGS} ${WEFT_TEST_OPTIONS})
target_precompile_headers(abt_refused_test REUSE_FROM weft_abt_test_pch)
foreach(call malloc calloc realloc aligned_alloc posix_memalign free mmap pthread_create pthread_barrier_init
        _Znwm _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t _ZdlPv _ZdlPvm _ZdaPv)
  target_link_options(abt_refused_test PRIVATE -Wl,--wrap=${call})
endforeach()
add_test(NAME abt_refused_test COMMAND abt_refused_test ${WEFT_TEST_ARGUMENTS})
weft_label(abt_refused_test quick)

# Its functions must be found by name, as in a program that is linked with -rdynamic.
set_target_properties(abt_info_test PROPERTIES ENABLE_EXPORTS ON)

# The bridge's tests, linked with another Argobots (`make abt-differential`). They check the same of
# both, except where a test skips a check there and says why.
option(WEFT_ABT_DIFFERENTIAL "Build the bridge's tests against another Argobots, which pkg-config knows" OFF)
if(WEFT_ABT_DIFFERENTIAL)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(WEFT_OTHER_ARGOBOTS REQUIRED IMPORTED_TARGET argobots)
  add_custom_target(abt_differential)
  foreach(file ${weft_abt_test_files})
    get_filename_component(name ${file} NAME_WE)
    if(name STREQUAL abt_weft_test)
      continue()
    endif()
    add_executable(differential_${name} EXCLUDE_FROM_ALL ${file})
    target_include_directories(differential_${name} BEFORE PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(differential_${name} PRIVATE weft_abt_test_main PkgConfig::WEFT_OTHER_ARGOBOTS GTest::gtest
      Threads::Threads)
    set_target_properties(differential_${name} PROPERTIES BUILD_RPATH "${WEFT_OTHER_ARGOBOTS_LIBRARY_DIRS}")
    add_dependencies(abt_differential differential_${name})
    add_test(NAME differential_${name} COMMAND differential_${name})
    set_tests_properties(differential_${name} PROPERTIES LABELS differential TIMEOUT 120)
  endforeach()
endif()

# The header, as C and as C++. The test is that a function of another type does not compile, and
# that the program links, which shows that all functions exist.
foreach(language c cpp)
  add_executable(abt_abi_${language} abi_test.${language})
  target_link_libraries(abt_abi_${language} PRIVATE weft_abt_static Threads::Threads)
  target_compile_options(abt_abi_${language} PRIVATE -Wall -Wextra -Wpedantic -Werror)
  add_test(NAME abt_abi_${language} COMMAND abt_abi_${language})
  weft_label(abt_abi_${language} quick)
endforeach()
set_target_properties(abt_abi_c PROPERTIES LINKER_LANGUAGE CXX)

# The examples and the applications, at sizes that take a second.
if(WEFT_EXAMPLES)
  foreach(example blocking_receive priority_pool stealing_scheduler life_tool migration)
    add_test(NAME abt_example_${example} COMMAND abt_example_${example})
    weft_label(abt_example_${example} quick)
  endforeach()
  if(NOT WEFT_OBSERVERS)
    set_tests_properties(abt_example_life_tool PROPERTIES PASS_REGULAR_EXPRESSION "without its tool interface")
  endif()
  add_test(NAME abt_app_lookup COMMAND abt_app_lookup --nuclides=40 --points=500 --lookups=100000 --batch=1000)
  add_test(NAME abt_app_dynamics COMMAND abt_app_dynamics --cells=3 --atoms=60)
  weft_label(abt_app_lookup quick)
  weft_label(abt_app_dynamics quick)
endif()

if(COMMAND weft_house_test)
  weft_house_test(argobots_symbols ${weft_tools}/symbols.py --library $<TARGET_FILE:weft_abt> --list
    ${CMAKE_CURRENT_SOURCE_DIR}/exports.txt)
endif()
