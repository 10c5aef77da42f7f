# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `cmake --install` installs: headers, libweft.so, libweft.a, find_package(weft), pkg-config
# weft, the examples. test/install builds consumers of all that, outside the tree. Every path is
# relative to the place of the installed file, so an installed tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# find_package(weft): weft::weft, weft::weft_static, and weft::sim for tests
install(TARGETS weft weft_static ${WEFT_SIM_TARGET} EXPORT weft
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# A project without C++ that links the static library needs the C++ run-time library nevertheless.
target_link_libraries(weft_static INTERFACE $<INSTALL_INTERFACE:stdc++>)
set(WEFT_INSTALL_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
install(EXPORT weft NAMESPACE weft:: FILE weft-targets.cmake DESTINATION ${WEFT_INSTALL_CMAKEDIR})
configure_package_config_file(cmake/weft-config.cmake.in ${CMAKE_BINARY_DIR}/install/weft-config.cmake
  INSTALL_DESTINATION ${WEFT_INSTALL_CMAKEDIR} NO_SET_AND_CHECK_MACRO)
# While the major version is 0, a new minor version may break the ABI.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/install/weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/install/weft-config.cmake ${CMAKE_BINARY_DIR}/install/weft-config-version.cmake
  DESTINATION ${WEFT_INSTALL_CMAKEDIR})

# pkg-config weft
file(RELATIVE_PATH WEFT_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" WEFT_PC_TO_PREFIX ${WEFT_PC_TO_PREFIX})
file(RELATIVE_PATH WEFT_PREFIX_TO_LIBDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH WEFT_PREFIX_TO_INCLUDEDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
# weft_pkg_config(NAME LIBS libs [CFLAGS flags] [PRIVATE libs]): writes the file, which
# weft_install_pkg_config or a variant installs.
function(weft_pkg_config WEFT_PC_NAME)
  cmake_parse_arguments(PARSE_ARGV 1 WEFT_PC "" "LIBS;CFLAGS;PRIVATE;ABOUT" "")
  configure_file(cmake/weft.pc.in ${CMAKE_BINARY_DIR}/install/${WEFT_PC_NAME}.pc @ONLY)
endfunction()
function(weft_install_pkg_config name)
  weft_pkg_config(${name} ${ARGN})
  install(FILES ${CMAKE_BINARY_DIR}/install/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
set(weft_runs_on "-lstdc++ -pthread -ldl")
weft_install_pkg_config(weft LIBS "-lweft" PRIVATE "${weft_runs_on}")
weft_install_pkg_config(weft_static LIBS "-l:libweft.a ${weft_runs_on}" ABOUT " (linked into the program)")
if(WEFT_SIM)
  weft_install_pkg_config(weft_sim LIBS "-lweft_sim ${weft_runs_on}" ABOUT " (on virtual harts, for tests)")
endif()
if(WEFT_ARGOBOTS)
  weft_install_pkg_config(weft_argobots LIBS "-labt" PRIVATE "-lweft ${weft_runs_on} -lm" ABOUT
    " (Argobots' interface)")
endif()
weft_pkg_config(weft_checked LIBS "-lweft_checked" ABOUT " (checked)")
foreach(sanitizer tsan=thread asan=address)
  string(REGEX MATCH "^(.*)=(.*)$" parts ${sanitizer})
  weft_pkg_config(weft_${CMAKE_MATCH_1} LIBS "-lweft_${CMAKE_MATCH_1} -fsanitize=${CMAKE_MATCH_2}" CFLAGS
    " -fsanitize=${CMAKE_MATCH_2}"
    ABOUT " (for programs built with -fsanitize=${CMAKE_MATCH_2})")
endforeach()

# The gdb commands, and the file that makes gdb load them together with the library, from the
# library's place (doc/debugging.md).
set(WEFT_INSTALL_GDBDIR ${CMAKE_INSTALL_DATADIR}/weft/gdb)
install(FILES tools/gdb/weft.py DESTINATION ${WEFT_INSTALL_GDBDIR})
file(RELATIVE_PATH WEFT_GDB_FROM_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_DATADIR}/weft/gdb)
configure_file(cmake/weft-gdb.py.in ${CMAKE_BINARY_DIR}/install/weft-gdb.py @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/install/weft-gdb.py DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RENAME libweft.so.${PROJECT_VERSION}-gdb.py)

install(FILES LICENSE NOTICE README.md CHANGES.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY doc/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/doc FILES_MATCHING PATTERN "*.md" PATTERN "*.svg"
  PATTERN decisions EXCLUDE PATTERN site EXCLUDE PATTERN man EXCLUDE)

# The examples, with a CMake file that builds them outside of this tree
install(DIRECTORY example/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
  FILES_MATCHING PATTERN "*.c" PATTERN "*.cpp" PATTERN "*.hpp" PATTERN standalone EXCLUDE)
install(FILES example/standalone/CMakeLists.txt DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
