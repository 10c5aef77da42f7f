# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests lie beside the code and are found by their suffix: a new test needs no edit here.
#
# Each test program is one CTest entry. Its labels are its group (the preset), its size, and the
# group's budget for that size; tools/group.py prints the budget and stops the group at three times
# the budget. The size follows from the file name: x_test.cpp is quick, x_full_test.cpp is full,
# x_soak_test.cpp is soak.
enable_testing()

find_package(GTest QUIET)
if(NOT GTest_FOUND OR CMAKE_CROSSCOMPILING)
  # Cross builds compile Debian's source package googletest.
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK OFF)
  add_subdirectory(/usr/src/googletest ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
endif()

# What the tests share: the static library, gtest, the sources' include path.
add_library(weft_test_support INTERFACE)
target_link_libraries(weft_test_support INTERFACE weft_objects weft_static GTest::gtest Threads::Threads
  ${CMAKE_DL_LIBS})
target_include_directories(weft_test_support INTERFACE ${CMAKE_SOURCE_DIR})

# The compiled gtest header, shared by all test programs.
add_executable(weft_test_pch EXCLUDE_FROM_ALL test/pch.cpp)
target_link_libraries(weft_test_pch PRIVATE weft_test_support)
# Tests need not run fast; they must build fast. They are optimised in release and tsan, where the
# compiler is to be tempted to keep a thread's address across a switch.
set(WEFT_TEST_OPTIONS -O1 -g1)
if(WEFT_GROUP MATCHES "^(debug|asan)$")
  set(WEFT_TEST_OPTIONS -O0 -g1)
endif()
if(WEFT_SANITIZE STREQUAL "address")
  # These checks of the tests' own pointers take a third of the time to build them, and the address
  # sanitizer sees the same faults.
  list(APPEND WEFT_TEST_OPTIONS -fno-sanitize=null,vptr,object-size,nonnull-attribute,returns-nonnull-attribute)
endif()
target_compile_options(weft_test_pch PRIVATE ${WEFT_WARNINGS} ${WEFT_TEST_OPTIONS})
target_precompile_headers(weft_test_pch PRIVATE <gtest/gtest.h>)

# The main function of all test programs, compiled once.
add_library(weft_test_main OBJECT test/main.cpp)
target_link_libraries(weft_test_main PRIVATE weft_test_support)

# What `make test` leaves to `make test-full`, by group: together with release, models and the
# others, the chosen part still runs each behaviour at least twice, and the simulated tests are a
# checked build of all behaviours. The pattern is matched against the names of the test programs.
set(WEFT_CHOSEN_release ".*")
set(WEFT_CHOSEN_clang ".*")
set(WEFT_CHOSEN_debug
  "debugger|windows|faults|refused|unit_test|random_test|idle_list|deque|fifo|join_state|life|safe_read|observ|hostile|call_test|parallel|auto_test")
set(WEFT_CHOSEN_asan
  "unit_test|stream_test|pool_test|sched_test|exit|faults|migration|random_test|cpp_thread|cpp_exception|runtime|remote_calls|slab|stack|overflow|pool_kinds|pool_ops|placement|sched_stack|sched_replace|migrate_test|cancel|towards|revive|behaviour_local|cpp_stop|life|mutex|condition|event_test|counting|channel|timer|poller|blocking|cpp_sync|dump|safe_read|observ|hostile|kinds|auto_test|parallel")
set(WEFT_CHOSEN_tsan
  "unit_test|stream_test|pool_test|windows|migration|random_test|remote_calls|idle_list|deque|fifo|inbox|join_state|parker|slab|lock|runtime|signals|pool_kinds|pool_ops|placement|sched_stack|sched_replace|migrat|cancel|towards|behaviour_local|life|mutex|condition|event_test|counting|channel|timer|poller|blocking|cpp_sync|dump|safe_read|observ|kinds|algorithm|auto_test|parallel")
set(WEFT_CHOSEN_lean "^$")   # all of it is full
set(WEFT_CHOSEN_aarch64
  "context_test|own_float|registers|unit_test|migration|slab_test|stack_test|local_word|switch_claims|kinds_test|auto_test|parallel_test|call_test|emulated")

function(weft_label test size)
  if(size STREQUAL "quick" AND DEFINED WEFT_CHOSEN_${WEFT_GROUP} AND NOT test MATCHES "${WEFT_CHOSEN_${WEFT_GROUP}}")
    set(size full)
  endif()
  string(TOUPPER ${size} upper)
  set_tests_properties(${test} PROPERTIES LABELS "${WEFT_GROUP};${size};budget=${WEFT_BUDGET_${upper}}s")
endfunction()

# Under an emulator a program cannot start itself anew. It sees the emulator's memory beside its
# own, the emulator's fault handlers and their messages instead of the kernel's, the host's system
# call numbers instead of the processor's (stuck alone), the CPUs of one thread instead of those of
# all, and an OS thread of the emulator that takes no part, and might wake a unit (deadlock). A
# fork's child that starts an OS thread ends the emulator.
if(CMAKE_CROSSCOMPILING)
  set(WEFT_TEST_ARGUMENTS --gtest_death_test_style=fast)
  list(APPEND weft_left_out Faults.GuardsThatFail* Million.* *NoStack*.* StartStop.*Times* OneCreatesOneFrees.*
    Overflow.IsTold* Overflow.AFaultThatIsNone* AccessDeathTest.*
    HartLimit.* HostedTraps.*SetsTheIds* HostedTraps.*ThatOfTheIds Deadlock.* DeadlockWatch.* Fork.*
    GuestAloneDeathTest.* CrashDeathTest.*
    StuckAlone.AReadThatNobodyAnswers* StuckAlone.ASleepThatHasEnded* StuckAlone.WithRescueOff*
    StuckAlone.TheSameInASharedPool* StuckAlone.AReadOnAStream* StuckAloneDeath.AMutexHeld*
    Host.ReservesNoMoreThanItsStack Host.HasHalfTheStackWhereItsOwnFindsNoRoom*)
endif()

# Tests of features that the library was built without; features_test.cpp tests that they are
# refused.
if(NOT WEFT_MIGRATION)
  list(APPEND weft_left_out Admission.AMigration* BindingItself.AUnitGoesOn* JoinersOfOneThatMoves.*
    *OwnFloat.GoesAlongToAnotherPool* Migrate.* MoveWindows.* Migration.* Invoke.AUnitJoinsOnAnotherStream*
    Kinds.APromotedUnitGoesOnOnAnotherStream Life.*
    Locals.EachUnitHasItsOwnAndTheyGoWithIt Observers.AMigrationIsTold* Refused.* Revive.HowTheLastLife*
    Revive.WhatWasSaidOfMigration*
    Stacked.OneThatRunsIsNotWhere* *TimedMove.* TimedMoves.* Trace.CancellationsMigrations*)
endif()
if(NOT WEFT_CANCEL)
  list(APPEND weft_left_out Cancel.* Cancelled.* Hosted.MayBeCancelled *CallFrom.AllOfARow* InvokeEnds.*Cancelled*
    Kinds.OneThatWaitsCanBeCancelled* Locals.ValuesAreDestroyedBefore*
    Migrate.ACancelled* Observers.*Cancelled* Observers.HowAUnitEnded* Refused.* Revive.HowTheLastLife*
    YieldTo.ACancelled* Trace.CancellationsMigrations*)
endif()
if(NOT WEFT_OBSERVERS)
  list(APPEND weft_left_out Observers.* Observing.* Trace* Kinds.AnObserver* Rescue.IsSeenInTheTrace)
endif()
if(weft_left_out)
  list(JOIN weft_left_out ":" weft_left_out)
  list(APPEND WEFT_TEST_ARGUMENTS "--gtest_filter=-${weft_left_out}")
endif()

set(weft_test_files)
file(GLOB weft_test_files CONFIGURE_DEPENDS
  src/*/*_test.cpp src/os/linux/*_test.cpp test/abi/*_test.cpp test/stress/*_test.cpp test/behaviour/*_test.cpp)
foreach(file ${weft_test_files})
  get_filename_component(name ${file} NAME_WE)
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  set(target ${folder}_${name})
  if(WEFT_GROUP STREQUAL "lean" AND NOT file MATCHES "/test/")
    continue()   # what lies beside the code knows of no feature
  endif()
  add_executable(${target} ${file})
  target_link_libraries(${target} PRIVATE weft_test_main weft_test_support)
  target_compile_options(${target} PRIVATE ${WEFT_WARNINGS} ${WEFT_TEST_OPTIONS})
  target_precompile_headers(${target} REUSE_FROM weft_test_pch)
  add_test(NAME ${target} COMMAND ${target} ${WEFT_TEST_ARGUMENTS})
  if(WEFT_GROUP STREQUAL "release" AND name MATCHES "_(soak|full)_test$")
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)   # built when it is to be run
  endif()
  if(name MATCHES "_soak_test$")
    weft_label(${target} soak)
  elseif(name MATCHES "_full_test$")
    weft_label(${target} full)
  else()
    weft_label(${target} quick)
  endif()
endforeach()

# What C programs compile of a fork.
add_library(weft_test_forks OBJECT test/behaviour/forks.c)
target_include_directories(weft_test_forks PRIVATE ${CMAKE_SOURCE_DIR}/include)
target_compile_options(weft_test_forks PRIVATE -Wall -Wextra -Wpedantic -Wshadow)
set_target_properties(weft_test_forks PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
target_link_libraries(behaviour_parallel_test PRIVATE weft_test_forks)

# Their functions must be found by name, as in a program that is linked with -rdynamic.
set_target_properties(behaviour_dump_test behaviour_hosted_traps_test PROPERTIES ENABLE_EXPORTS ON)

# The module that hosted_traps_test loads while it runs.
add_library(weft_test_module MODULE test/behaviour/module.cpp)
target_compile_definitions(behaviour_hosted_traps_test PRIVATE "WEFT_TEST_MODULE=\"$<TARGET_FILE:weft_test_module>\"")
add_dependencies(behaviour_hosted_traps_test weft_test_module)

# Valgrind follows units from stack to stack: it takes no switch for an overflow, and reports no
# error.
find_program(WEFT_VALGRIND valgrind)
if(WEFT_VALGRIND AND WEFT_GROUP STREQUAL "release")
  foreach(name behaviour_unit_test behaviour_call_test behaviour_cpp_thread_test)
    add_test(NAME valgrind_${name} COMMAND ${WEFT_VALGRIND} --error-exitcode=9 $<TARGET_FILE:${name}>
      --gtest_filter=-*Death*)
    set_tests_properties(valgrind_${name} PROPERTIES FAIL_REGULAR_EXPRESSION "switching stacks;FAILED"
      PASS_REGULAR_EXPRESSION "ERROR SUMMARY: 0 errors")
    weft_label(valgrind_${name} quick)
  endforeach()
endif()

include(${CMAKE_SOURCE_DIR}/cmake/arch_tests.cmake)
include(${CMAKE_SOURCE_DIR}/cmake/model_tests.cmake)
include(${CMAKE_SOURCE_DIR}/cmake/house_tests.cmake)
include(${CMAKE_SOURCE_DIR}/cmake/bench_tests.cmake)
include(${CMAKE_SOURCE_DIR}/cmake/simulation_tests.cmake)
include(${CMAKE_SOURCE_DIR}/cmake/debugger_tests.cmake)
include(${CMAKE_SOURCE_DIR}/cmake/hostile_tests.cmake)
