# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests of the processor's port beyond those in one file for all processors: its registers and
# landing pads, the thread-local word under link-time optimisation, and how a debugger shows a
# context. Included by tests.cmake.

add_executable(arch_registers_test src/arch/${WEFT_ARCH}/registers_test.cpp)
target_link_libraries(arch_registers_test PRIVATE weft_test_main weft_test_support)
target_compile_options(arch_registers_test PRIVATE ${WEFT_WARNINGS} ${WEFT_TEST_OPTIONS})
target_precompile_headers(arch_registers_test REUSE_FROM weft_test_pch)
add_test(NAME arch_registers_test COMMAND arch_registers_test)
weft_label(arch_registers_test quick)

# The context entry by itself, for small programs that are built unlike the library.
function(weft_arch_program name source)
  add_executable(${name} ${source} src/arch/${WEFT_ARCH}/switch.S)
  target_include_directories(${name} PRIVATE src ${CMAKE_BINARY_DIR}/generated)
  target_compile_definitions(${name} PRIVATE
    "WEFT_ARCH_CONTEXT=\"arch/${WEFT_ARCH}/context.hpp\"" "WEFT_ARCH_CPU=\"arch/${WEFT_ARCH}/cpu.hpp\""
  "WEFT_ARCH_LOOK=\"arch/${WEFT_ARCH}/look.hpp\"")
  if(WEFT_ARCH STREQUAL "x86_64")
    target_compile_options(${name} PRIVATE -mno-red-zone)   # as the library: arch/x86_64/context.hpp
  endif()
  target_link_libraries(${name} PRIVATE Threads::Threads)
endfunction()

# ---- the switch's object: without these claims no program that links Weft is protected -----------
if(CMAKE_READELF)
  add_library(arch_switch_object OBJECT src/arch/${WEFT_ARCH}/switch.S)
  target_include_directories(arch_switch_object PRIVATE src)
  add_test(NAME arch_switch_claims COMMAND ${CMAKE_READELF} -n $<TARGET_OBJECTS:arch_switch_object>)
  set(WEFT_CLAIMS_x86_64 "x86 feature: IBT\n")
  set(WEFT_CLAIMS_aarch64 "AArch64 feature: BTI, PAC\n")
  set_tests_properties(arch_switch_claims PROPERTIES PASS_REGULAR_EXPRESSION "${WEFT_CLAIMS_${WEFT_ARCH}}"
    FAIL_REGULAR_EXPRESSION "[Cc]orrupt|SHSTK")
  weft_label(arch_switch_claims quick)
endif()

# The programs below do not announce their contexts to the sanitizers.
if(NOT WEFT_SANITIZE)
  include(CheckIPOSupported)
  check_ipo_supported(RESULT WEFT_HAVE_LTO LANGUAGES CXX)
  foreach(kind pie static)
    set(name arch_local_word_check_${kind})
    weft_arch_program(${name} src/arch/local_word_check.cpp)
    target_compile_options(${name} PRIVATE -O3)
    set_target_properties(${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ${WEFT_HAVE_LTO})
    add_test(NAME ${name} COMMAND ${name})
    weft_label(${name} quick)
  endforeach()
  set_target_properties(arch_local_word_check_static PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_link_options(arch_local_word_check_static PRIVATE -static)

  # GDB unwinds by its own rules, and stops with a complaint if it considers a stack corrupt.
  find_program(WEFT_GDB gdb)
  if(WEFT_GDB AND NOT CMAKE_CROSSCOMPILING)
    weft_arch_program(arch_backtrace_check src/arch/backtrace_check.cpp)
    target_compile_options(arch_backtrace_check PRIVATE -g)
    add_test(NAME arch_backtrace_in_gdb COMMAND ${WEFT_GDB} -nx -batch
      -iex "set debuginfod enabled off" -ex "set width 0" -ex "break deepest" -ex run -ex bt -ex continue -ex bt
      $<TARGET_FILE:arch_backtrace_check>)
    set(frames
      "#0 [^\n]*deepest[^\n]*\n#1 [^\n]*middle[^\n]*\n#2 [^\n]*inner_main[^\n]*\n#3 [^\n]*weft_context_entry[^\n]*\n")
    set_tests_properties(arch_backtrace_in_gdb PROPERTIES
      PASS_REGULAR_EXPRESSION "${frames}\n.*${frames}"
      FAIL_REGULAR_EXPRESSION "corrupt stack;previous frame;Backtrace stopped;Cannot access memory;#4 "
      SKIP_REGULAR_EXPRESSION "ptrace: Operation not permitted")
    weft_label(arch_backtrace_in_gdb quick)
  endif()
endif()
