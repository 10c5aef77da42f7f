# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# OpenBLASes with threads of their own: libraries that stand for them, and the program that tests
# where their jobs run and how many threads they use.
if(NOT WEFT_TESTS OR WEFT_FUZZ OR WEFT_SANITIZE OR CMAKE_CROSSCOMPILING)
  return()
endif()

# In the order of `weft run`.
set(preloaded)
foreach(library weft_openmp weft_pthread weft_openblas weft)
  list(APPEND preloaded $<TARGET_FILE:${library}>)
endforeach()
list(JOIN preloaded ":" preloaded)
set(on_weft "LD_PRELOAD=${preloaded};GLIBC_TUNABLES=glibc.pthread.rseq=0;WEFT_OMP_MAX_THREADS=follow")

# clang would call another OpenMP than that of Weft's.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The names and the interface of NumPy 2.4's wheel, OpenBLAS' own names, and NumPy 1.26's wheel.
  set(WHEEL BEFORE=scipy_ BEHIND=64_ CALLBACK=1 EARLY=1)
  set(OTHER_WHEEL BEFORE= BEHIND= CALLBACK=1 EARLY=0)
  set(OLD_WHEEL BEFORE= BEHIND=64_ CALLBACK=0 EARLY=0)
  set(copies)
  foreach(kind WHEEL OTHER_WHEEL OLD_WHEEL)
    string(TOLOWER weft_blas_${kind} library)
    add_library(${library} SHARED test/threaded_blas.cpp)
    target_compile_definitions(${library} PRIVATE ${${kind}})
    target_compile_features(${library} PRIVATE cxx_std_20)
    target_compile_options(${library} PRIVATE ${WEFT_WARNINGS} -fvisibility=hidden)
    target_link_options(${library} PRIVATE -Wl,-Bsymbolic)
    target_link_libraries(${library} PRIVATE Threads::Threads)
    set_target_properties(${library} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    list(APPEND copies "BLAS_${kind}=$<TARGET_FILE:${library}>")
  endforeach()
  add_executable(openblas_threads_test test/threads.cpp)
  target_link_libraries(openblas_threads_test PRIVATE weft GTest::gtest GTest::gtest_main Threads::Threads
    ${CMAKE_DL_LIBS})
  target_include_directories(openblas_threads_test PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_compile_options(openblas_threads_test PRIVATE ${WEFT_WARNINGS} ${WEFT_TEST_OPTIONS} -fopenmp)
  target_link_options(openblas_threads_test PRIVATE -fopenmp)
  add_dependencies(openblas_threads_test weft_openmp weft_pthread weft_openblas weft_blas_wheel weft_blas_other_wheel
    weft_blas_old_wheel)
  foreach(suite Follow Full)
    string(TOLOWER ${suite} word)
    add_test(NAME openblas_threads_${word} COMMAND openblas_threads_test --gtest_filter=${suite}.*)
    set_tests_properties(openblas_threads_${word} PROPERTIES TIMEOUT 120
      ENVIRONMENT "${on_weft};WEFT_HARTS=2;WEFT_BLAS_THREADS=${word};${copies}")
    weft_label(openblas_threads_${word} quick)
  endforeach()
endif()

include(${CMAKE_SOURCE_DIR}/cmake/openblas.cmake)
if(WEFT_OPENBLAS_LIBRARIES)
  add_executable(openblas_real EXCLUDE_FROM_ALL test/real.cpp)   # built when it is to be run
  target_compile_features(openblas_real PRIVATE cxx_std_20)
  target_compile_options(openblas_real PRIVATE ${WEFT_WARNINGS} ${WEFT_TEST_OPTIONS})
  target_link_libraries(openblas_real PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(openblas_real PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  foreach(word follow full)
    add_test(NAME openblas_real_${word} COMMAND openblas_real ${WEFT_OPENBLAS_LIBRARIES})
    set_tests_properties(openblas_real_${word} PROPERTIES TIMEOUT 300
      ENVIRONMENT "${on_weft};WEFT_BLAS_THREADS=${word}")
    weft_label(openblas_real_${word} full)
    set_property(TEST openblas_real_${word} APPEND PROPERTY LABELS needs=weft_openmp needs=weft_pthread
      needs=weft_openblas)
  endforeach()
else()
  message(STATUS "no test of a real OpenBLAS: there is none (Debian: libopenblas0-pthread, libopenblas0-openmp)")
endif()
