# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The suite: programs that use oneTBB as its users do, each run on Weft, and without it, with the
# same verdict.
if(NOT WEFT_TESTS OR WEFT_FUZZ OR CMAKE_CROSSCOMPILING)
  return()
endif()
find_package(TBB QUIET)
if(NOT TARGET TBB::tbb)
  message(STATUS "the TBB suite needs oneTBB (Debian: libtbb-dev): left out")
  return()
endif()

function(weft_tbb_test name program size)
  cmake_parse_arguments(test "" "" "ENVIRONMENT;ARGUMENTS" ${ARGN})
  add_test(NAME tbb_${name} COMMAND ${program} ${test_ARGUMENTS})
  set_tests_properties(tbb_${name} PROPERTIES ENVIRONMENT "${test_ENVIRONMENT}" TIMEOUT 120)
  weft_label(tbb_${name} ${size})
  if(test_ENVIRONMENT)
    set_property(TEST tbb_${name} APPEND PROPERTY LABELS needs=weft_openmp needs=weft_pthread needs=weft_openblas
      needs=weft_tbb)
  endif()
endfunction()

include(${CMAKE_SOURCE_DIR}/cmake/openblas.cmake)

# The libraries to be preloaded would come before the sanitizer's own, and TBB is not compiled for
# it. A program that is linked with them tests Weft alone under ThreadSanitizer, and neither TBB nor
# itself.
if(WEFT_SANITIZE STREQUAL "thread")
  find_program(WEFT_GXX NAMES g++-12 g++)   # clang would call another OpenMP
  if(NOT WEFT_GXX)
    message(STATUS "the TBB suite needs gcc: left out")
    return()
  endif()
  foreach(part composer announced)
    add_custom_command(OUTPUT ${part}.o
      COMMAND ${WEFT_GXX} -c -std=c++20 -O2 -g -fopenmp -DFOR_THREAD_SANITIZER
      "-I$<JOIN:$<TARGET_PROPERTY:TBB::tbb,INTERFACE_INCLUDE_DIRECTORIES>,;-I>"
      ${CMAKE_CURRENT_SOURCE_DIR}/test/${part}.cpp -o ${part}.o
      DEPENDS test/${part}.cpp test/check.hpp test/product.hpp VERBATIM COMMAND_EXPAND_LISTS)
  endforeach()
  add_executable(tbb_composer composer.o announced.o)
  set_target_properties(tbb_composer PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(tbb_composer PRIVATE weft_tbb weft_openblas weft_openmp weft TBB::tbb Threads::Threads
    ${CMAKE_DL_LIBS})
  set(on_weft WEFT_HARTS=2 WEFT_OMP_MAX_THREADS=follow WEFT_BLAS_THREADS=follow
    TSAN_OPTIONS=report_thread_leaks=0:ignore_noninstrumented_modules=1)
  weft_tbb_test(composer_long tbb_composer full ENVIRONMENT ${on_weft} ARGUMENTS 60 1 ${WEFT_OPENBLAS_LIBRARIES})
  weft_tbb_test(composer_soak tbb_composer soak ENVIRONMENT ${on_weft} ARGUMENTS 600 1 ${WEFT_OPENBLAS_LIBRARIES})
  set_tests_properties(tbb_composer_soak PROPERTIES TIMEOUT 900)
  return()
endif()
if(WEFT_SANITIZE)
  return()
endif()

set(programs algorithms pipelines groups contexts arenas observers limits locals graphs containers resumable finalizing
    ends forks plugins threads liveness)
# clang would call another OpenMP than that of Weft's.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND programs mixed composer)
  if(WEFT_OPENBLAS_LIBRARIES)
    list(APPEND programs blas)
  else()
    message(STATUS "the TBB suite tries no BLAS: there is none (Debian: libopenblas0-openmp)")
  endif()
endif()

# In the order of `weft run`.
set(preloaded)
foreach(library weft_openmp weft_pthread weft_openblas weft_tbb weft)
  list(APPEND preloaded $<TARGET_FILE:${library}>)
endforeach()
list(JOIN preloaded ":" preloaded)
set(on_weft "LD_PRELOAD=${preloaded}" GLIBC_TUNABLES=glibc.pthread.rseq=0 WEFT_OMP_MAX_THREADS=follow
  WEFT_BLAS_THREADS=follow)

function(weft_tbb_options target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE ${WEFT_WARNINGS} -O2 -g1)
  set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
endfunction()

# A library that is opened when the program runs: the program itself has no TBB.
add_library(tbb_plugin SHARED test/plugin.cpp)
weft_tbb_options(tbb_plugin)
target_link_libraries(tbb_plugin PRIVATE TBB::tbb)

foreach(name IN LISTS programs)
  set(program tbb_${name})
  set(arguments)
  add_executable(${program} test/${name}.cpp)
  weft_tbb_options(${program})
  if(name STREQUAL "plugins")
    target_include_directories(${program} PRIVATE $<TARGET_PROPERTY:TBB::tbb,INTERFACE_INCLUDE_DIRECTORIES>)
    target_link_libraries(${program} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
    set(arguments ARGUMENTS $<TARGET_FILE:tbb_plugin>)
  else()
    target_link_libraries(${program} PRIVATE TBB::tbb Threads::Threads)
  endif()
  if(name MATCHES "^(composer|blas)$")
    target_link_libraries(${program} PRIVATE ${CMAKE_DL_LIBS})
  endif()
  if(name STREQUAL "blas")
    set(arguments ARGUMENTS ${WEFT_OPENBLAS_LIBRARIES})
  endif()
  if(name MATCHES "^(mixed|composer|blas)$")
    target_compile_options(${program} PRIVATE -fopenmp)
    target_link_options(${program} PRIVATE -fopenmp)
  endif()
  if(name STREQUAL "composer")
    # Programs composed at random, for the given number of seconds. The longer tests call BLAS, too.
    set(arguments ARGUMENTS 10 1 ${WEFT_OPENBLAS_LIBRARIES})
    weft_tbb_test(composer ${program} quick ENVIRONMENT ${on_weft} WEFT_HARTS=2 ARGUMENTS 1)
    weft_tbb_test(composer_long ${program} full ENVIRONMENT ${on_weft} WEFT_HARTS=2
      ARGUMENTS 30 1 ${WEFT_OPENBLAS_LIBRARIES})
    weft_tbb_test(composer_soak ${program} soak ENVIRONMENT ${on_weft} WEFT_HARTS=2
      ARGUMENTS 600 1 ${WEFT_OPENBLAS_LIBRARIES})
    set_tests_properties(tbb_composer_soak PROPERTIES TIMEOUT 900)
  else()
    weft_tbb_test(${name} ${program} quick ENVIRONMENT ${on_weft} WEFT_HARTS=2 ${arguments})
  endif()
  foreach(harts 1 8)
    weft_tbb_test(${name}_on_${harts} ${program} full ENVIRONMENT ${on_weft} WEFT_HARTS=${harts} ${arguments})
  endforeach()
  weft_tbb_test(${name}_without ${program} full ${arguments})
endforeach()
