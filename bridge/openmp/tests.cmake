# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The suite: OpenMP programs as gcc compiles them, each run on Weft, and on the compiler's libgomp
# as well, with the same verdict. The programs in `alone` fail or hang on libgomp.
if(NOT WEFT_TESTS OR WEFT_FUZZ)
  return()
endif()
# Under an emulator, which is slow and has one CPU: only what the port to the processor takes part
# in.
if(CMAKE_CROSSCOMPILING)
  foreach(name regions tasks loops sharing nested depends atomics cancel exceptions threads composer)
    set(source test/${name}.c)
    if(name STREQUAL "exceptions")
      set(source test/${name}.cpp)
    endif()
    add_executable(openmp_${name} ${source})
    target_compile_options(openmp_${name} PRIVATE -Wall -fopenmp -O1)
    target_link_options(openmp_${name} PRIVATE -fopenmp)
    set_target_properties(openmp_${name} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    add_dependencies(openmp_${name} weft_openmp)
    set(seconds)
    if(name STREQUAL "composer")
      set(seconds 10)
    endif()
    add_test(NAME openmp_${name}_emulated COMMAND openmp_${name} ${seconds})
    set_tests_properties(openmp_${name}_emulated PROPERTIES TIMEOUT 900 ENVIRONMENT
      "OMP_CANCELLATION=true;LD_LIBRARY_PATH=$<TARGET_FILE_DIR:weft_openmp>:$<TARGET_FILE_DIR:weft>")
    if(name MATCHES "^(regions|tasks)$")
      weft_label(openmp_${name}_emulated quick)
    else()
      weft_label(openmp_${name}_emulated full)
    endif()
  endforeach()
  return()
endif()
# Unit tests of the library's parts.
foreach(part ready thief)
  add_executable(openmp_${part}_test src/${part}_test.cpp)
  target_link_libraries(openmp_${part}_test PRIVATE weft GTest::gtest GTest::gtest_main Threads::Threads)
  target_include_directories(openmp_${part}_test PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_compile_options(openmp_${part}_test PRIVATE ${WEFT_WARNINGS} ${WEFT_TEST_OPTIONS})
  add_test(NAME openmp_${part}_test COMMAND openmp_${part}_test)
  weft_label(openmp_${part}_test quick)
endforeach()
# clang would call another library: in its builds, too, gcc compiles the suite.
if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
  find_program(WEFT_GCC NAMES gcc-12 gcc)
  find_program(WEFT_GXX NAMES g++-12 g++)
  if(NOT WEFT_GCC OR NOT WEFT_GXX)
    message(STATUS "the OpenMP suite needs gcc: left out")
    return()
  endif()
endif()
set(programs regions loops sharing tasks nested cancel icv threads places exceptions entries old_locks clauses atomics
    depends everything routines stream_stack)
list(APPEND programs target_firstprivate target_objects target_tasks target_cancel target_icv target_data leagues teams
     distribute team_objects devices offload)
list(APPEND programs memory memory_regions memory_objects affinity)
list(APPEND programs own_groups task_reductions reduced_objects combined_reductions cancel_groups cancelled_tasks
     cancelled_events cancelled_regions cancelled_loops cancelled_objects discarded_tasks)
# libgomp frees copies that other threads still use where left_groups leaves a construct.
set(alone left_groups thousands far newer doacross forked composer follow task_kinds league_icv target_events pools
  choices in_units composer_in_units in_workers)
# Programs that test cancellation run with it as well as without.
set(with_cancellation cancel target_tasks target_cancel memory_regions left_groups groups reduced_objects cancel_groups
    cancelled_tasks cancelled_events cancelled_regions cancelled_loops cancelled_objects discarded_tasks)
# gcc warns where a combined construct is cancelled.
set_source_files_properties(test/cancelled_loops.c PROPERTIES COMPILE_OPTIONS -w)
# What explicit tasks may be instead of calls on a member's stack, and the programs that are run
# with each kind. depends.c is not among them: its tasks use threadprivate variables.
set(task_kinds full lsa roc ss sc auto hosted)
set(with_task_kinds tasks clauses cancel exceptions nested target_tasks leagues own_groups task_reductions
  reduced_objects
    cancelled_tasks cancelled_regions cancelled_loops discarded_tasks)
# As users compile: optimised and not; under a sanitizer and in the debug build, at their level.
if(WEFT_GROUP STREQUAL "release")
  set(levels O0 O3)
else()
  set(levels O1)
endif()
# ThreadSanitizer lets no child of a fork start threads. AddressSanitizer's allocator (gcc 12) takes
# none of its locks across a fork, so the child waits forever if one of the parent's threads was
# just starting.
if(WEFT_SANITIZE)
  list(REMOVE_ITEM alone forked)
endif()
# Members stay until the process ends. The tests ask for sizes that no memory has, and are refused.
set(on_weft
  "TSAN_OPTIONS=report_thread_leaks=0:allocator_may_return_null=1;ASAN_OPTIONS=allocator_may_return_null=1;LD_LIBRARY_PATH=$<TARGET_FILE_DIR:weft_openmp>:$<TARGET_FILE_DIR:weft>")

# Programs that run Argobots units as well.
set(in_units ${on_weft})
set(with_argobots_options)
if(WEFT_ARGOBOTS)
  string(APPEND in_units ":$<TARGET_FILE_DIR:weft_abt>")
  set(with_argobots_options -DWITH_ARGOBOTS -I${CMAKE_SOURCE_DIR}/bridge/argobots)
endif()

# A word that means no kind is reported under Weft's name, and ignored.
function(weft_openmp_wrong_kind program)
  add_test(NAME openmp_task_kind_wrong COMMAND ${program})
  set_tests_properties(openmp_task_kind_wrong PROPERTIES ENVIRONMENT "${on_weft};WEFT_OMP_TASK_KIND=rtc" TIMEOUT 900
    PASS_REGULAR_EXPRESSION
    "weft: WEFT_OMP_TASK_KIND is 'rtc', which is ignored; legal are: full, lsa, roc, ss, sc, auto, hosted")
  weft_label(openmp_task_kind_wrong quick)
endfunction()

function(weft_openmp_test name program size)
  cmake_parse_arguments(test "" "" "ENVIRONMENT;ARGUMENTS" ${ARGN})
  add_test(NAME openmp_${name} COMMAND ${program} ${test_ARGUMENTS})
  set_tests_properties(openmp_${name} PROPERTIES ENVIRONMENT "${test_ENVIRONMENT}" TIMEOUT 900)
  weft_label(openmp_${name} ${size})
endfunction()

foreach(name IN LISTS programs alone)
  set(source test/${name}.c)
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    set(source test/${name}.cpp)
  endif()
  foreach(level IN LISTS levels)
    set(program openmp_${name}_${level})
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
      add_executable(${program} ${source})
      target_compile_options(${program} PRIVATE -Wall -fopenmp -${level})
      target_link_options(${program} PRIVATE -fopenmp)
      set_target_properties(${program} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
      add_dependencies(${program} weft_openmp)
      if(name MATCHES "in_(units|workers)$")   # calls Weft as well
        target_link_libraries(${program} PRIVATE weft)
        target_compile_features(${program} PRIVATE cxx_std_20)
      endif()
    else()
      set(compiler ${WEFT_GCC})
      if(source MATCHES "cpp$")
        set(compiler ${WEFT_GXX} -std=c++20 -I${CMAKE_SOURCE_DIR}/include ${with_argobots_options})
      endif()
      set(instrumented)
      if(WEFT_SANITIZE STREQUAL "thread")
        set(instrumented -fsanitize=thread)
      endif()
      add_custom_command(OUTPUT ${program}.o
        COMMAND ${compiler} -c -Wall -fopenmp -${level} -g ${instrumented} ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o
        ${program}.o
        DEPENDS ${source} test/check.h test/composed.h VERBATIM)
      add_executable(${program} ${program}.o)
      set_target_properties(${program} PROPERTIES LINKER_LANGUAGE CXX)
      target_link_libraries(${program} PRIVATE weft_openmp)
      if(name MATCHES "in_(units|workers)$")
        target_link_libraries(${program} PRIVATE weft)
      endif()
    endif()
    if(name STREQUAL "composer_in_units" AND WEFT_ARGOBOTS)
      target_compile_options(${program} PRIVATE ${with_argobots_options})
      target_link_libraries(${program} PRIVATE weft_abt)
    endif()
    if(level STREQUAL "O0")
      set(size full)
    else()
      set(size quick)
    endif()
    if(name STREQUAL "composer_in_units")
      if(level STREQUAL "O0")
        continue()
      endif()
      weft_openmp_test(composer_in_units ${program} quick ENVIRONMENT ${in_units} OMP_CANCELLATION=true ARGUMENTS 3)
      weft_openmp_test(composer_in_units_long ${program} full ENVIRONMENT ${in_units} OMP_CANCELLATION=true ARGUMENTS
        60)
      weft_openmp_test(composer_in_units_soak ${program} soak ENVIRONMENT ${in_units} OMP_CANCELLATION=true ARGUMENTS
        600)
      continue()
    endif()
    if(name STREQUAL "in_units" AND NOT level STREQUAL "O0")
      weft_openmp_test(in_units_on_one_hart ${program} quick ENVIRONMENT ${in_units} WEFT_HARTS=1 ARGUMENTS rounds)
      weft_openmp_test(in_units_of_guests ${program} quick ENVIRONMENT ${in_units} ARGUMENTS guests)
      weft_openmp_test(in_units_at_once ${program} quick ENVIRONMENT ${in_units} ARGUMENTS at_once)
    endif()
    if(name STREQUAL "in_workers" AND NOT level STREQUAL "O0")
      set(two_harts ${on_weft} WEFT_HARTS=2 OMP_NUM_THREADS=8)
      weft_openmp_test(in_workers_follow ${program} quick ENVIRONMENT ${two_harts} WEFT_OMP_MAX_THREADS=follow
        ARGUMENTS follow)
      weft_openmp_test(in_workers_full ${program} quick ENVIRONMENT ${two_harts} ARGUMENTS full)
      weft_openmp_test(in_workers_on_one_hart ${program} quick ENVIRONMENT ${on_weft} WEFT_HARTS=1)
    endif()
    if(name STREQUAL "composer")
      # Programs composed at random, for the given number of seconds.
      if(NOT level STREQUAL "O0")
        weft_openmp_test(composer ${program} full ENVIRONMENT ${on_weft} OMP_CANCELLATION=true ARGUMENTS 60)
        weft_openmp_test(composer_targets ${program} full ENVIRONMENT ${on_weft} OMP_CANCELLATION=true
          ARGUMENTS targets 15)
        weft_openmp_test(composer_targets_soak ${program} soak ENVIRONMENT ${on_weft} OMP_CANCELLATION=true
          ARGUMENTS targets 300)
        weft_openmp_test(composer_uncancelled ${program} full ENVIRONMENT ${on_weft} ARGUMENTS 15)
        if(WEFT_GROUP STREQUAL "release")
          weft_openmp_test(composer_libgomp ${program} full ENVIRONMENT OMP_WAIT_POLICY=passive OMP_CANCELLATION=true
            ARGUMENTS 10)
        endif()
        foreach(kind IN LISTS task_kinds)
          weft_openmp_test(composer_${kind} ${program} full ENVIRONMENT ${on_weft} OMP_CANCELLATION=true
            WEFT_OMP_TASK_KIND=${kind} ARGUMENTS 5)
        endforeach()
        weft_openmp_test(composer_soak ${program} soak ENVIRONMENT ${on_weft} OMP_CANCELLATION=true ARGUMENTS 600)
      endif()
      continue()
    endif()
    if(name STREQUAL "thousands")
      # Once: another optimisation level tests the same library. Sanitizers keep megabytes for each
      # thread.
      if(level STREQUAL "O3" OR (level STREQUAL "O1" AND NOT WEFT_SANITIZE))
        weft_openmp_test(thousands ${program} full ENVIRONMENT ${on_weft})
      endif()
      continue()
    endif()
    if(name STREQUAL "follow")
      weft_openmp_test(${name}_${level} ${program} ${size} ENVIRONMENT ${on_weft} WEFT_OMP_MAX_THREADS=follow)
      continue()
    endif()
    if(name STREQUAL "task_kinds")
      foreach(kind IN LISTS task_kinds)
        weft_openmp_test(${name}_${kind}_${level} ${program} ${size} ENVIRONMENT ${on_weft} WEFT_OMP_TASK_KIND=${kind})
      endforeach()
      continue()
    endif()
    weft_openmp_test(${name}_${level} ${program} ${size} ENVIRONMENT ${on_weft})
    if(name IN_LIST with_task_kinds AND NOT level STREQUAL "O0")
      foreach(kind IN LISTS task_kinds)
        weft_openmp_test(${name}_${kind}_${level} ${program} full ENVIRONMENT ${on_weft} WEFT_OMP_TASK_KIND=${kind}
          OMP_CANCELLATION=true)
      endforeach()
    endif()
    if(WEFT_GROUP STREQUAL "release" AND NOT name IN_LIST alone)
      weft_openmp_test(${name}_${level}_libgomp ${program} full ENVIRONMENT "OMP_WAIT_POLICY=passive")
    endif()
    if(name STREQUAL "target_icv" AND NOT level STREQUAL "O0")
      set(said OMP_NUM_THREADS=3,2 OMP_DYNAMIC=true OMP_SCHEDULE=guided,5 OMP_THREAD_LIMIT=16 OMP_PROC_BIND=spread
        OMP_ALLOCATOR=omp_const_mem_alloc OMP_DEFAULT_DEVICE=2 OMP_MAX_ACTIVE_LEVELS=3)
      weft_openmp_test(target_icv_said ${program} ${size} ENVIRONMENT ${on_weft} ${said})
      if(WEFT_GROUP STREQUAL "release")
        weft_openmp_test(target_icv_said_libgomp ${program} full ENVIRONMENT OMP_WAIT_POLICY=passive ${said})
      endif()
    endif()
    if(name STREQUAL "tasks" AND NOT level STREQUAL "O0")
      weft_openmp_wrong_kind(${program})
    endif()
    if(name IN_LIST with_cancellation)
      weft_openmp_test(${name}_${level}_on ${program} ${size} ENVIRONMENT "${on_weft};OMP_CANCELLATION=true")
      if(WEFT_GROUP STREQUAL "release" AND NOT name IN_LIST alone)
        weft_openmp_test(${name}_${level}_on_libgomp ${program} full ENVIRONMENT
          "OMP_WAIT_POLICY=passive;OMP_CANCELLATION=true")
      endif()
    endif()
  endforeach()
endforeach()

# Fortran, with integers of 4 bytes and of 8: the names of the routines differ.
set(fortran_programs fortran target target_absent teams memory affinity groups)
set(fortran_alone target_absent)   # on libgomp it crashes because of what the compiler leaves unsaid
function(weft_openmp_fortran_test name level bytes)
  string(REPLACE "fortran_fortran" "fortran" test fortran_${name}_${bytes}_${level})
  set(program openmp_${test})
  set(integers)
  if(bytes EQUAL 8)
    set(integers -fdefault-integer-8)
  endif()
  add_custom_command(OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${test}
    COMMAND ${WEFT_GFORTRAN} -cpp -ffree-line-length-none -fopenmp -${level} ${integers} -J ${test}
      ${CMAKE_CURRENT_SOURCE_DIR}/test/${name}.f90 -o ${program}
    DEPENDS test/${name}.f90 test/check.f90 VERBATIM)
  add_custom_target(${program}_made ALL DEPENDS ${program})
  weft_openmp_test(${test} ${CMAKE_CURRENT_BINARY_DIR}/${program} full ENVIRONMENT ${on_weft})
  if(WEFT_GROUP STREQUAL "release" AND NOT name IN_LIST fortran_alone)
    weft_openmp_test(${test}_libgomp ${CMAKE_CURRENT_BINARY_DIR}/${program} full ENVIRONMENT "OMP_WAIT_POLICY=passive")
  endif()
  if(name IN_LIST with_cancellation)
    weft_openmp_test(${test}_on ${CMAKE_CURRENT_BINARY_DIR}/${program} full ENVIRONMENT ${on_weft}
      OMP_CANCELLATION=true)
    if(WEFT_GROUP STREQUAL "release")
      weft_openmp_test(${test}_on_libgomp ${CMAKE_CURRENT_BINARY_DIR}/${program} full
        ENVIRONMENT "OMP_WAIT_POLICY=passive;OMP_CANCELLATION=true")
    endif()
  endif()
endfunction()
find_program(WEFT_GFORTRAN NAMES gfortran-12 gfortran)
if(WEFT_GFORTRAN AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT WEFT_SANITIZE)
  foreach(level IN LISTS levels)
    foreach(bytes 4 8)
      foreach(name IN LISTS fortran_programs)
        weft_openmp_fortran_test(${name} ${level} ${bytes})
      endforeach()
    endforeach()
  endforeach()
  set(without_fortran)
else()
  set(without_fortran --without-fortran)
endif()
if(COMMAND weft_house_test AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  weft_house_test(openmp_entries ${CMAKE_SOURCE_DIR}/tools/openmp_entries.py --programs ${CMAKE_CURRENT_BINARY_DIR}
    ${without_fortran})
endif()

# How processes end and fork, and that members which spin or block in the kernel make progress
# (doc/openmp.md).
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  add_library(openmp_plugin SHARED test/plugin.c)
  target_compile_options(openmp_plugin PRIVATE -fopenmp)
  target_link_options(openmp_plugin PRIVATE -fopenmp)
  foreach(name process liveness thread_zero)
    add_executable(openmp_${name} test/${name}.c)
    target_compile_options(openmp_${name} PRIVATE -Wall -fopenmp -O2)
    target_link_options(openmp_${name} PRIVATE -fopenmp)
    target_link_libraries(openmp_${name} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
    add_dependencies(openmp_${name} weft_openmp)
  endforeach()
  set(process ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/test/process.py --program $<TARGET_FILE:openmp_process>
    --plugin $<TARGET_FILE:openmp_plugin>)
  # Signals for a member reach it where the C library's calls are those of libweft_pthread, as under
  # `weft run`.
  set(without --without interrupted_1)
  if(NOT WEFT_SANITIZE)
    add_test(NAME openmp_process_interrupted COMMAND ${process} --only interrupted_0 interrupted_1)
    set_tests_properties(openmp_process_interrupted PROPERTIES ENVIRONMENT
      "LD_PRELOAD=$<TARGET_FILE:weft_openmp>:$<TARGET_FILE:weft_pthread>")
    weft_label(openmp_process_interrupted quick)
    set_property(TEST openmp_process_interrupted APPEND PROPERTY LABELS needs=weft_pthread)
  endif()
  if(WEFT_SANITIZE)
    # A sanitizer has its own messages for aborts, stacks and limits, and its library must come
    # first.
    set(without --no-python --only exit_0 exit_3 now_0 now_3 exit_nested exit_in_task signals own_mask plugins
      thread_ends keys at_exit at_exit_in_region)
  endif()
  add_test(NAME openmp_process COMMAND ${process} ${without})
  set_tests_properties(openmp_process PROPERTIES ENVIRONMENT "${on_weft}")
  weft_label(openmp_process quick)
  if(WEFT_GROUP STREQUAL "release")
    add_test(NAME openmp_process_libgomp COMMAND ${process})
    set_tests_properties(openmp_process_libgomp PROPERTIES ENVIRONMENT "OMP_WAIT_POLICY=passive")
    weft_label(openmp_process_libgomp full)
  endif()
  # What reports, dumps and gdb say of members. Under the thread sanitizer no deadlock is reported,
  # and gdb shows no library that is compiled for a sanitizer.
  if(NOT WEFT_SANITIZE)
    add_executable(openmp_shown test/shown.c)
    target_compile_options(openmp_shown PRIVATE -Wall -fopenmp -O2)
    target_link_options(openmp_shown PRIVATE -fopenmp)
    set_target_properties(openmp_shown PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    add_dependencies(openmp_shown weft_openmp)
    find_program(WEFT_GDB gdb)
    set(in_gdb)
    if(WEFT_GDB)
      set(in_gdb --gdb ${WEFT_GDB} --script ${CMAKE_SOURCE_DIR}/tools/gdb/weft.py)
    endif()
    add_test(NAME openmp_shown COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/test/shown.py
      --program $<TARGET_FILE:openmp_shown> ${in_gdb})
    set_tests_properties(openmp_shown PROPERTIES ENVIRONMENT "${on_weft}" TIMEOUT 300)
    weft_label(openmp_shown quick)
  endif()
  # What programs see of the variables, compared with libgomp.
  if(WEFT_GROUP STREQUAL "release")
    add_executable(openmp_variables test/variables.c)
    target_compile_options(openmp_variables PRIVATE -Wall -fopenmp -O2)
    target_link_options(openmp_variables PRIVATE -fopenmp)
    set_target_properties(openmp_variables PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    add_dependencies(openmp_variables weft_openmp)
    set(variables ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/test/variables.py --program
      $<TARGET_FILE:openmp_variables> --weft $<TARGET_FILE_DIR:weft_openmp>:$<TARGET_FILE_DIR:weft>)
    add_test(NAME openmp_variables_some COMMAND ${variables} --some)
    add_test(NAME openmp_variables COMMAND ${variables})
    weft_label(openmp_variables_some quick)
    weft_label(openmp_variables full)
    # The messages on standard error, compared with libgomp.
    add_executable(openmp_messages test/messages.c)
    target_compile_options(openmp_messages PRIVATE -Wall -fopenmp -O2)
    target_link_options(openmp_messages PRIVATE -fopenmp)
    set_target_properties(openmp_messages PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    add_dependencies(openmp_messages weft_openmp)
    set(in_fortran)
    if(WEFT_GFORTRAN)
      add_custom_command(OUTPUT openmp_messages_fortran
        COMMAND ${WEFT_GFORTRAN} -fopenmp -O2 ${CMAKE_CURRENT_SOURCE_DIR}/test/messages.f90 -o openmp_messages_fortran
        DEPENDS test/messages.f90 VERBATIM)
      add_custom_target(openmp_messages_fortran_made ALL DEPENDS openmp_messages_fortran)
      set(in_fortran --fortran ${CMAKE_CURRENT_BINARY_DIR}/openmp_messages_fortran)
    endif()
    add_test(NAME openmp_messages COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/test/messages.py
      --program $<TARGET_FILE:openmp_messages> ${in_fortran} --weft
      $<TARGET_FILE_DIR:weft_openmp>:$<TARGET_FILE_DIR:weft>)
    weft_label(openmp_messages quick)
  endif()
  find_program(WEFT_TASKSET taskset)
  foreach(name spin yield rendezvous barriers pipes ring relay conditions foreign threads tasks forks)
    if(name MATCHES "^(barriers|foreign|pipes|ring|relay)$")
      weft_openmp_test(liveness_${name} openmp_liveness quick ENVIRONMENT ${on_weft} ARGUMENTS ${name})
    else()
      weft_openmp_test(liveness_${name} openmp_liveness full ENVIRONMENT ${on_weft} ARGUMENTS ${name})
    endif()
    set_tests_properties(openmp_liveness_${name} PROPERTIES TIMEOUT 120)
    if(WEFT_TASKSET)
      add_test(NAME openmp_liveness_${name}_on_one COMMAND ${WEFT_TASKSET} -c 0 $<TARGET_FILE:openmp_liveness> ${name})
      set_tests_properties(openmp_liveness_${name}_on_one PROPERTIES ENVIRONMENT "${on_weft}" TIMEOUT 120)
      weft_label(openmp_liveness_${name}_on_one full)
    endif()
  endforeach()
  foreach(name barrier lock task inner alone teams help)
    weft_openmp_test(thread_zero_${name} openmp_thread_zero quick ENVIRONMENT ${on_weft} ARGUMENTS ${name} 4)
    weft_openmp_test(thread_zero_${name}_of_8_on_one openmp_thread_zero full ENVIRONMENT ${on_weft} WEFT_HARTS=1
      ARGUMENTS ${name} 8)
    set_tests_properties(openmp_thread_zero_${name} openmp_thread_zero_${name}_of_8_on_one PROPERTIES TIMEOUT 120)
  endforeach()
endif()

# A second OpenMP runtime in the process: regions of LLVM's runtime beside ours, by a library whose
# omp_ references carry no version, and a library that asks for OpenMP by a weak reference. libomp
# knows no sanitizer.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT WEFT_SANITIZE)
  set(preloaded "LD_PRELOAD=$<TARGET_FILE:weft_openmp>;LD_LIBRARY_PATH=$<TARGET_FILE_DIR:weft>")
  foreach(name weak_library weak_team)
    add_library(openmp_${name} SHARED test/${name}.c)
    set_target_properties(openmp_${name} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  endforeach()
  target_compile_options(openmp_weak_team PRIVATE -fopenmp)
  target_link_options(openmp_weak_team PRIVATE -fopenmp)
  # A program without OpenMP leaves the reference null; in a program with OpenMP the reference is
  # bound to libgomp, as it would be without us.
  foreach(expected 0 1)
    add_executable(openmp_weak_${expected} test/weak.c)
    target_link_libraries(openmp_weak_${expected} PRIVATE ${CMAKE_DL_LIBS})
    set_target_properties(openmp_weak_${expected} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    add_dependencies(openmp_weak_${expected} weft_openmp)
    set(arguments $<TARGET_FILE:openmp_weak_team> $<TARGET_FILE:openmp_weak_library> ${expected})
    weft_openmp_test(weak_${expected} openmp_weak_${expected} quick ENVIRONMENT ${preloaded} ARGUMENTS ${arguments})
    if(WEFT_GROUP STREQUAL "release")
      weft_openmp_test(weak_${expected}_libgomp openmp_weak_${expected} full ENVIRONMENT OMP_WAIT_POLICY=passive
        ARGUMENTS ${arguments})
    endif()
  endforeach()
  target_link_options(openmp_weak_1 PRIVATE -Wl,--no-as-needed -fopenmp)

  find_program(WEFT_CLANG NAMES clang clang-14)
  find_library(WEFT_LIBOMP NAMES libomp.so.5 omp PATH_SUFFIXES llvm-14/lib)
  if(NOT WEFT_CLANG OR NOT WEFT_LIBOMP)
    message(STATUS "the tests beside a second OpenMP need clang and libomp-dev: left out")
    return()
  endif()
  # Once linked without its runtime, as its users have it, and once with that runtime.
  set(library ${CMAKE_CURRENT_BINARY_DIR}/libopenmp_second.so)
  set(whole ${CMAKE_CURRENT_BINARY_DIR}/libopenmp_second_whole.so)
  add_custom_command(OUTPUT ${library} ${whole}
    COMMAND ${WEFT_CLANG} -c -Wall -fPIC -fopenmp -O1 ${CMAKE_CURRENT_SOURCE_DIR}/test/second_library.c -o
    openmp_second_library.o
    COMMAND ${CMAKE_C_COMPILER} -shared openmp_second_library.o -o ${library}
    COMMAND ${CMAKE_C_COMPILER} -shared -Wl,--no-as-needed ${library} ${WEFT_LIBOMP}
    -Wl,-rpath,${CMAKE_CURRENT_BINARY_DIR} -o ${whole}
    DEPENDS test/second_library.c test/second.h VERBATIM)
  add_custom_target(openmp_second_library ALL DEPENDS ${library} ${whole})
  add_executable(openmp_second test/second.c)
  target_compile_options(openmp_second PRIVATE -Wall -fopenmp -O2)
  target_link_options(openmp_second PRIVATE -fopenmp)
  target_link_libraries(openmp_second PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(openmp_second PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  add_dependencies(openmp_second weft_openmp openmp_second_library)
  list(APPEND preloaded OMP_NUM_THREADS=2 OMP_MAX_ACTIVE_LEVELS=4)
  foreach(name places threads many_threads setters setters_in_regions early early_by_library locks)
    weft_openmp_test(second_${name} openmp_second quick ENVIRONMENT ${preloaded} ARGUMENTS ${name} ${library}
      ${WEFT_LIBOMP})
    weft_openmp_test(second_${name}_brought openmp_second full ENVIRONMENT ${preloaded} ARGUMENTS ${name} ${whole})
    # Where no tool is wanted, the runtime does not report that it begins.
    weft_openmp_test(second_${name}_untold openmp_second full ENVIRONMENT ${preloaded} OMP_TOOL=disabled ARGUMENTS
      ${name} ${library} ${WEFT_LIBOMP})
    set_tests_properties(openmp_second_${name} openmp_second_${name}_brought openmp_second_${name}_untold PROPERTIES
      TIMEOUT 60)
  endforeach()
endif()
