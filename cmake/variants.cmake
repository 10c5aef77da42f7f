# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# weft::checked, weft::tsan and weft::asan: the library's sources, compiled differently, installed
# beside the release (doc/variants.md). All of them are checked builds. They have names of their
# own, so that a program that was linked with one of them loads no other, and export the release's
# symbols under its version, so that libraries that need libweft.so.0.7 use the variant that
# precedes it.
#
# A build that is to be installed names them in WEFT_VARIANTS, as the preset `package` does.
# Elsewhere they are targets that `all` leaves out, and install components of their own: checked,
# tsan, asan.
set(WEFT_VARIANTS "" CACHE STRING "Of checked, tsan and asan those that are built and installed with the release")
set(weft_known_variants checked tsan asan)
foreach(name IN LISTS WEFT_VARIANTS)
  if(NOT name IN_LIST weft_known_variants)
    message(FATAL_ERROR "WEFT_VARIANTS names '${name}'; legal are: ${weft_known_variants}")
  endif()
endforeach()

# weft_variant(NAME [SANITIZE flag]): the library weft_NAME, with weft's sources, options and
# symbols.
function(weft_variant name)
  cmake_parse_arguments(PARSE_ARGV 1 of "" "SANITIZE" "")
  set(target weft_${name})
  set(generated ${CMAKE_BINARY_DIR}/generated_${name})
  set(WEFT_CHECKED_VALUE true)
  set(WEFT_VARIANT_VALUE true)
  set(WEFT_ASAN_VALUE false)
  set(WEFT_TSAN_VALUE false)
  if(of_SANITIZE STREQUAL "address")
    set(WEFT_ASAN_VALUE true)
  elseif(of_SANITIZE STREQUAL "thread")
    set(WEFT_TSAN_VALUE true)
  endif()
  configure_file(src/base/config.hpp.in ${generated}/base/config.hpp)

  add_library(${target} SHARED ${WEFT_SOURCES} src/base/handles.cpp)
  add_library(weft::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${WEFT_SOVERSION}
    LINK_DEPENDS ${CMAKE_SOURCE_DIR}/src/abi/weft.map)
  target_include_directories(${target} PRIVATE ${generated} ${CMAKE_SOURCE_DIR}/src
    PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_definitions(${target} PRIVATE ${WEFT_LIBRARY_DEFINITIONS})
  target_compile_options(${target} PRIVATE ${WEFT_LIBRARY_OPTIONS})
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_link_libraries(${target} PUBLIC Threads::Threads PRIVATE ${CMAKE_DL_LIBS})
  target_link_options(${target} PRIVATE ${WEFT_LIBRARY_LINK_OPTIONS})
  if(of_SANITIZE)
    target_sources(${target} PRIVATE src/os/linux/children.cpp)
    # Compiled for the sanitizer, and linked without it: the program brings the run-time library,
    # gcc's or clang's, so that there is never a second one.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${of_SANITIZE}
      -fno-omit-frame-pointer>
      INTERFACE $<INSTALL_INTERFACE:-fsanitize=${of_SANITIZE}>)
    target_link_options(${target} INTERFACE $<INSTALL_INTERFACE:-fsanitize=${of_SANITIZE}>)
  else()
    weft_late_cxx_in(${target})
  endif()
  weft_install_variant(${name})
  add_dependencies(variants ${target})
endfunction()

# Installs a variant with its CMake targets, its .pc file and its gdb file.
function(weft_install_variant name)
  set(left_out)
  if(NOT name IN_LIST WEFT_VARIANTS)
    set(left_out EXCLUDE_FROM_ALL)
    set_target_properties(weft_${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  install(TARGETS weft_${name} EXPORT weft_${name}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name} ${left_out})
  install(EXPORT weft_${name} NAMESPACE weft:: FILE weft-${name}-targets.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/weft COMPONENT ${name} ${left_out})
  install(FILES ${CMAKE_BINARY_DIR}/install/weft_${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${name} ${left_out})
  install(FILES ${CMAKE_BINARY_DIR}/install/weft-gdb.py DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name}
    ${left_out}
    RENAME libweft_${name}.so.${PROJECT_VERSION}-gdb.py)
endfunction()

# Installs a bridge that `weft run` preloads together with that variant: it is compiled like the
# variant, whose interface has the flags.
function(weft_install_variant_bridge name target folder)
  set(left_out)
  if(NOT name IN_LIST WEFT_VARIANTS)
    set(left_out EXCLUDE_FROM_ALL)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION ${folder} NAMELINK_SKIP COMPONENT ${name} ${left_out})
  add_dependencies(variants ${target})
endfunction()

add_custom_target(variants)
weft_variant(checked)
weft_variant(tsan SANITIZE thread)
weft_variant(asan SANITIZE address)
