# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Unmodified libraries and programs of Debian, on Weft and on libgomp (programs/programs.py). What
# is not installed is skipped with a message.
if(NOT WEFT_TESTS OR WEFT_FUZZ OR CMAKE_CROSSCOMPILING OR NOT WEFT_GROUP STREQUAL "release" OR NOT CMAKE_C_COMPILER_ID
  STREQUAL "GNU")
  return()
endif()
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

function(weft_program_test name)
  cmake_parse_arguments(test "" "PROGRAM;MISSING" "" ${ARGN})
  # Programs that make threads of their own, or that wait in many ways, run once more with such
  # threads admitted to the harts.
  set(ways "")
  if(name MATCHES "^(blas|fortran|numpy|graphicsmagick|imagemagick|sparse)$")
    set(ways _admitted)
  endif()
  foreach(way "" ${ways})
    set(admit)
    if(way)
      set(admit --admit)
    endif()
    add_test(NAME programs_${name}${way} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/programs/programs.py
      ${name} --build ${CMAKE_BINARY_DIR}
      --program=${test_PROGRAM} --missing=${test_MISSING} ${admit})
    set_tests_properties(programs_${name}${way} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
    weft_label(programs_${name}${way} full)
  endforeach()
endfunction()

# A program of ours that calls one of the libraries. The library's headers and what it is linked
# with must be there.
function(weft_caller_test name source header package)
  find_path(WEFT_HEADER_OF_${name} ${header} PATH_SUFFIXES suitesparse)
  if(NOT WEFT_HEADER_OF_${name})
    weft_program_test(${name} MISSING ${package})
    return()
  endif()
  add_executable(openmp_caller_${name} programs/${source})
  target_include_directories(openmp_caller_${name} PRIVATE ${WEFT_HEADER_OF_${name}})
  target_compile_options(openmp_caller_${name} PRIVATE -O1 -Wall)
  target_link_libraries(openmp_caller_${name} PRIVATE ${ARGN})
  set_target_properties(openmp_caller_${name} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  weft_program_test(${name} PROGRAM $<TARGET_FILE:openmp_caller_${name}>)
endfunction()

weft_caller_test(blas blas.cpp dlfcn.h libc6-dev ${CMAKE_DL_LIBS})
weft_caller_test(fft fft.c fftw3.h libfftw3-dev fftw3_omp fftw3 m)
weft_caller_test(sparse sparse.cpp SuiteSparseQR.hpp libsuitesparse-dev spqr cholmod umfpack)

find_program(WEFT_GFORTRAN NAMES gfortran gfortran-12)
if(WEFT_GFORTRAN)
  set(heat ${CMAKE_CURRENT_BINARY_DIR}/openmp_caller_fortran)
  add_custom_command(OUTPUT ${heat} COMMAND ${WEFT_GFORTRAN} -O2 -Wall -fopenmp
    ${CMAKE_CURRENT_SOURCE_DIR}/programs/heat.f90 -o ${heat} DEPENDS programs/heat.f90 VERBATIM)
  add_custom_target(openmp_callers_fortran ALL DEPENDS ${heat})
  weft_program_test(fortran PROGRAM ${heat})
else()
  weft_program_test(fortran MISSING gfortran)
endif()

foreach(name numpy graphicsmagick imagemagick elk)
  weft_program_test(${name})
endforeach()
