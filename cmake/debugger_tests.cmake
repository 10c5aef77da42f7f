# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests what gdb shows of units (tools/gdb/weft.py), with the shared library as it is installed.
# Included by tests.cmake; in the groups whose library is not compiled for a sanitizer, if gdb and a
# Python for the test are found.
find_program(WEFT_GDB gdb)
find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
if(NOT WEFT_GDB OR NOT Python3_FOUND OR CMAKE_CROSSCOMPILING OR WEFT_SANITIZE)
  return()
endif()

add_executable(debugger_parked test/debugger/parked.cpp)
target_link_libraries(debugger_parked PRIVATE weft)
target_compile_options(debugger_parked PRIVATE ${WEFT_WARNINGS} -O1 -g)
# A unit that the C++ headers spawn is shown at the program's line, with and without optimisation.
foreach(level 0 2)
  add_executable(debugger_spawns_${level} test/debugger/spawns.cpp)
  target_link_libraries(debugger_spawns_${level} PRIVATE weft)
  target_compile_options(debugger_spawns_${level} PRIVATE ${WEFT_WARNINGS} -O${level} -g)
endforeach()
add_test(NAME debugger_gdb COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/test/debugger/gdb_test.py
  --gdb ${WEFT_GDB} --strip ${CMAKE_STRIP} --script ${CMAKE_SOURCE_DIR}/tools/gdb/weft.py
  --autoload ${CMAKE_BINARY_DIR}/install/weft-gdb.py --libdir ${CMAKE_INSTALL_LIBDIR}
  --library $<TARGET_FILE:weft> --program $<TARGET_FILE:debugger_parked>
  --spawns $<TARGET_FILE:debugger_spawns_0> $<TARGET_FILE:debugger_spawns_2>
  --spawns-source ${CMAKE_SOURCE_DIR}/test/debugger/spawns.cpp)
set_tests_properties(debugger_gdb PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED: ptrace is not permitted")
weft_label(debugger_gdb quick)
