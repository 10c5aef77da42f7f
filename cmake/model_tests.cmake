# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Models: the lock-free structures, compiled from the library's own headers, under Relacy (Debian:
# relacy-dev), which searches the interleavings of small cases. test/model/seam precedes src on the
# include path.
#
# Each test/model/x_model.cpp is a program with two tests: model_x, and model_x_full with deeper
# searches. They do not depend on the build type, so only the release preset has them.
find_path(WEFT_RELACY relacy/relacy.hpp)

if(WEFT_RELACY AND WEFT_GROUP STREQUAL "release" AND NOT CMAKE_CROSSCOMPILING)
  file(GLOB weft_model_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/test/model/*_model.cpp)
  foreach(file ${weft_model_files})
    get_filename_component(name ${file} NAME_WE)
    string(REGEX REPLACE "_model$" "" name ${name})
    set(target model_${name})
    add_executable(${target} ${file})
    # Only the seams, the headers under test, and the models: nothing of the library is linked.
    target_include_directories(${target} PRIVATE
      ${CMAKE_SOURCE_DIR}/test/model/seam ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
    # Each suite instantiates most of Relacy: without debug information and at -O1, compiling and
    # running together are fastest.
    target_compile_options(${target} PRIVATE ${WEFT_WARNINGS} -O1 -g0)
    add_test(NAME ${target} COMMAND ${target})
    add_test(NAME ${target}_full COMMAND ${target} full)
    set_tests_properties(${target} PROPERTIES LABELS "models;quick;budget=${WEFT_BUDGET_QUICK}s")
    set_tests_properties(${target}_full PROPERTIES LABELS "models;full;budget=${WEFT_BUDGET_FULL}s")
  endforeach()
endif()
