# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Python's numerical libraries without Weft and with `weft run` (python/compare.py), in the
# environments that `make python-env` makes; skipped without them.
if(NOT WEFT_TESTS OR NOT WEFT_GROUP STREQUAL "release" OR NOT TARGET weft_command OR CMAKE_CROSSCOMPILING)
  return()
endif()
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(names numpy scipy sklearn joblib threadpoolctl numba_omp numba_tbb numba_workqueue lightgbm xgboost faiss processes
  ends interrupted)
set(names_today ${names} mkl_gnu mkl_tbb)
set(names_numpy1 ${names})
foreach(environment today numpy1)
  foreach(name ${names_${environment}})
    set(test python_${environment}_${name})
    add_test(NAME ${test} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/python/compare.py ${name}
      --build ${CMAKE_BINARY_DIR} --environment ${CMAKE_SOURCE_DIR}/build/python/${environment})
    set_tests_properties(${test} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 400)
    weft_label(${test} full)
    set_property(TEST ${test} APPEND PROPERTY LABELS needs=weft_command)
  endforeach()
endforeach()
