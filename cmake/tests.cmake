# Tests lie beside the code and are found by their suffix: a new one needs no edit here.
#
# Each test program is one CTest entry. Its labels are its group (the preset), its size, and the group's
# budget for that size; tools/group.py prints the budget and stops the group at three times that.
# The size is read off the file name: x_test.cpp is quick, x_full_test.cpp is full, x_soak_test.cpp is soak.
enable_testing()

find_package(GTest QUIET)
if(NOT GTest_FOUND OR CMAKE_CROSSCOMPILING)
  # Cross builds compile Debian's source package googletest.
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK OFF)
  add_subdirectory(/usr/src/googletest ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
  add_library(GTest::gtest ALIAS gtest)
  add_library(GTest::gtest_main ALIAS gtest_main)
endif()

# Everything tests may want from each other: the static library, gtest, the sources' include path.
add_library(weft_test_support INTERFACE)
target_link_libraries(weft_test_support INTERFACE weft_objects weft_static GTest::gtest Threads::Threads ${CMAKE_DL_LIBS})
target_include_directories(weft_test_support INTERFACE ${CMAKE_SOURCE_DIR})

# The compiled gtest header, shared by all test programs.
add_executable(weft_test_pch EXCLUDE_FROM_ALL test/pch.cpp)
target_link_libraries(weft_test_pch PRIVATE weft_test_support)
target_compile_options(weft_test_pch PRIVATE ${WEFT_WARNINGS})
target_precompile_headers(weft_test_pch PRIVATE <gtest/gtest.h>)

function(weft_label test size)
  string(TOUPPER ${size} upper)
  set_tests_properties(${test} PROPERTIES LABELS "${WEFT_GROUP};${size};budget=${WEFT_BUDGET_${upper}}s")
endfunction()

set(weft_test_files)
file(GLOB weft_test_files CONFIGURE_DEPENDS
  src/*/*_test.cpp src/os/linux/*_test.cpp test/abi/*_test.cpp test/stress/*_test.cpp test/behaviour/*_test.cpp)
foreach(file ${weft_test_files})
  get_filename_component(name ${file} NAME_WE)
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  set(target ${folder}_${name})
  add_executable(${target} ${file} ${CMAKE_SOURCE_DIR}/test/main.cpp)
  target_link_libraries(${target} PRIVATE weft_test_support)
  target_compile_options(${target} PRIVATE ${WEFT_WARNINGS})
  target_precompile_headers(${target} REUSE_FROM weft_test_pch)
  add_test(NAME ${target} COMMAND ${target})
  if(name MATCHES "_soak_test$")
    weft_label(${target} soak)
  elseif(name MATCHES "_full_test$")
    weft_label(${target} full)
  else()
    weft_label(${target} quick)
  endif()
endforeach()

include(${CMAKE_SOURCE_DIR}/cmake/house_tests.cmake)
