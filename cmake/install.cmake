# What `cmake --install` gives: headers, libweft.so, libweft.a, find_package(weft), pkg-config weft.
# test/install builds consumers of all that, outside the tree. Every path is relative to where the files
# end up, so an installed tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# find_package(weft): weft::weft, weft::weft_static, and weft::sim for tests
install(TARGETS weft weft_static ${WEFT_SIM_TARGET} EXPORT weft
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# A project without C++ that links the static library needs C++'s run-time library all the same.
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
configure_file(cmake/weft.pc.in ${CMAKE_BINARY_DIR}/install/weft.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/install/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The gdb commands, and what makes gdb load them together with the library, from where that lies (doc/debugging.md).
set(WEFT_INSTALL_GDBDIR ${CMAKE_INSTALL_DATADIR}/weft/gdb)
install(FILES tools/gdb/weft.py DESTINATION ${WEFT_INSTALL_GDBDIR})
file(RELATIVE_PATH WEFT_GDB_FROM_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_DATADIR}/weft/gdb)
configure_file(cmake/weft-gdb.py.in ${CMAKE_BINARY_DIR}/install/weft-gdb.py @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/install/weft-gdb.py DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RENAME libweft.so.${PROJECT_VERSION}-gdb.py)

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
