# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Scenarios: the behavioural tests, unchanged, on the simulated library (weft::sim), in one program.
# Tests that need a real kernel are marked in test/simulation/outside.txt; files with nothing but
# such tests are left out here. Included by tests.cmake.
#
# A run is a scenario under a seed. `make test` makes at least 200 runs, `make test-full` 2,000,
# `make test-soak` 100,000, each with other seeds. They do not depend on the build type, so only the
# release preset has them.
if(NOT WEFT_GROUP STREQUAL "release" OR NOT WEFT_SIM)
  return()
endif()

file(GLOB weft_scenario_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/test/behaviour/*_test.cpp)
# Left out: processes that start again or fork, probes and faults that are set from outside the
# library, memory that is taken away, algorithms (programs read the processor's own thread-local
# word, and algorithms treat their callers as threads that are no streams), and what the C library
# keeps for a hosted unit.
list(FILTER weft_scenario_files EXCLUDE REGEX
  "/(environment|exit|overflow|dump|faults|windows|move_windows|guest_windows|domain_windows|cpp_allocation|bound_limit|idle_full|algorithm|fork|deadlock|hosted|hosted_traps)_test.cpp$")

add_executable(simulation test/simulation/main.cpp test/simulation/threads.cpp $<TARGET_OBJECTS:weft_test_forks>
  ${weft_scenario_files})
target_include_directories(simulation PRIVATE ${CMAKE_SOURCE_DIR}/test/simulation/seam ${CMAKE_SOURCE_DIR}
  ${WEFT_SIM_INSIDE})
target_compile_definitions(simulation PRIVATE ${WEFT_SIM_DEFINITIONS})
target_compile_options(simulation PRIVATE ${WEFT_WARNINGS} -O1 -g1)
target_precompile_headers(simulation PRIVATE <gtest/gtest.h> <atomic> <functional> <memory> <thread> <vector>)
target_link_libraries(simulation PRIVATE weft_sim GTest::gtest)
# Lets the C++ library find threads.cpp instead of the C library.
set_target_properties(simulation PROPERTIES CXX_VISIBILITY_PRESET default)
target_link_options(simulation PRIVATE -rdynamic)

# The group's budget in seconds, by size.
set(WEFT_SIMULATION_BUDGET_quick 60)
set(WEFT_SIMULATION_BUDGET_full 180)
set(WEFT_SIMULATION_BUDGET_soak 5400)

# Each is one CTest entry for each of two shards, so that two processors have something to do; there
# are more shards where scenarios differ much.
set(weft_shards 2)
function(weft_simulation_test name size first_seed seeds)   # more arguments: of the program
  math(EXPR last "${weft_shards} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME simulation_${name}_${shard} COMMAND simulation --seeds=${seeds} --first-seed=${first_seed}
      --shard=${shard}/${weft_shards}
      --outside=${CMAKE_SOURCE_DIR}/test/simulation/outside.txt
      --punctual=${CMAKE_SOURCE_DIR}/test/simulation/punctual.txt ${ARGN})
    set_tests_properties(simulation_${name}_${shard} PROPERTIES LABELS
      "simulation;${size};budget=${WEFT_SIMULATION_BUDGET_${size}}s")
  endforeach()
endfunction()
weft_simulation_test(quick quick 1 2)
weft_simulation_test(full full 100 12)
weft_simulation_test(soak soak 1000 200)

# The scenarios with ULTs of the other kinds where a scenario names none; without those that report
# the kind, or count its effects.
set(weft_of_one_kind Runtime.TellsTheSettingsInForce CppRuntime.TheSettingsInForceAreThoseAskedFor
  Kinds.TheSettingIsOfThoseThatDoNotSay
  Units.EachLiveOneIsPrintedWithWhatItWaitsForAndItsSpawnSite Trace.AUnitIsASliceForEachTimeThatItRan
  Observing.AfterTheLastHasGoneNothingIsToldAndTheShortWaysAreBack Counters.StacksThatLiveAreCounted)
list(TRANSFORM weft_of_one_kind PREPEND "-")
list(JOIN weft_of_one_kind ":" weft_of_one_kind)
foreach(kind roc ss sc)
  weft_simulation_test(quick_${kind} quick 3 1 --filter=*:${weft_of_one_kind})
  weft_simulation_test(full_${kind} full 200 4 --filter=*:${weft_of_one_kind})
  weft_simulation_test(soak_${kind} soak 2000 40 --filter=*:${weft_of_one_kind})
  foreach(size quick full soak)
    foreach(shard 0 1)
      set_tests_properties(simulation_${size}_${kind}_${shard} PROPERTIES ENVIRONMENT WEFT_KIND=${kind})
    endforeach()
  endforeach()
endforeach()

# The scenarios with fewer harts than the virtual machine has otherwise. With one hart, scenarios
# are left out in which a unit spins until another hart has done something, or that need streams to
# make progress at the same time.
set(weft_of_one_hart Arena.WhatWasForkedBefore* Guest.WhatItForksIsTakenByAStream
  RescueOfDomains.OneThatHasWhatItAskedForIsLeftAlone
  Rescue.AUnitThatComesAsTheWatchdogFallsAsleepIsNotMissed)
list(TRANSFORM weft_of_one_hart PREPEND "-")
list(JOIN weft_of_one_hart ":" weft_of_one_hart)
foreach(size quick full soak)
  set(seeds_quick 1)
  set(seeds_full 4)
  set(seeds_soak 40)
  weft_simulation_test(${size}_one_hart ${size} 3000 ${seeds_${size}} --harts=1 --filter=*:${weft_of_one_hart})
  weft_simulation_test(${size}_two_harts ${size} 3000 ${seeds_${size}} --harts=2)
endforeach()

# Each call that a system may refuse is refused in turn: in a scenario of each layer, or in all
# scenarios.
set(weft_layer_scenarios
  Unit.HasTheStackSizeItAsksFor                                 # memory
  Runtime.AllHartsAreAsManyStreams                              # harts
  Unit.ManyAreSpawnedJoinedAndFreedAtOnce
  UserPool.LearnsWhichUnitsBelongToItAndWhenTheyDoNoMore        # pools
  Sched.StreamsStealByDefaultWhenThereAreSeveral
  Stream.IsFreedFromAUltOnAnotherStreamAndFromAnOsThread
  Stacked.NestsToAnyDepth                                       # levels of schedulers
  Migrate.AJoinerFromElsewhereLearnsOfTheEndWhereverItMeetsTheUnit
  Mutex.IsSharedByUnitsAndOsThreads
  Channel.MovesElementsAndDropsWhatNobodyReceived
  Timer.ManyPendingOnesAreFiredInOrder
  Poller.MayRemoveItself
  Blocking.BringsErrnoBack                                      # the blocking pool
  Event.HandedToAndFroLetsInWhatComesFromElsewhere
  Streams/CppThread.*                                           # C++, with its futures
  Trace.ManyStreamsThatComeAndGoAndOsThreadsAreTracks
)
# Also scenarios in which a refused call has revealed a fault.
list(APPEND weft_layer_scenarios CppThread.IsJoinedUntilADeadline Observing.EachIsToldOfWhatItWants
  Replaced.OfStreamZeroWhosePrimaryUnitRunsOn
  Access.APromiseThatIsKeptIsNotNoticed Revive.AUnitOfAnyKindRunsAgainByTheSameHandle
  Timer.OfAnOsThreadIsFiredByStreamZero Blocking.FindsAThreadForEachOfManyCalls)
list(JOIN weft_layer_scenarios ":" weft_layer_scenarios)
weft_simulation_test(faults_full full 1 1 --faults --filter=${weft_layer_scenarios})
set(weft_shards 16)
# Except scenarios in which a unit waits for another stream to take a job, which that does not do if
# memory is refused, or for the reactor while stream 0 blocks.
set(weft_unrefused Followed.AUnitThatATakenJobJoinsFindsNoWordOfThat
  Rescue.ATimerThatAnOsThreadOutsideStartsIsHeardThoughStreamZeroBlocks)
list(TRANSFORM weft_unrefused PREPEND "-")
list(JOIN weft_unrefused ":" weft_unrefused)
weft_simulation_test(faults_soak soak 2 1 --faults --go-on --filter=*:${weft_unrefused})

# Bugs that are put into a copy of the tree on purpose: the simulator finds each
# (doc/simulation.md).
find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME simulation_mutants_fit COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/mutants.py --check)
  set_tests_properties(simulation_mutants_fit PROPERTIES LABELS
    "simulation;quick;budget=${WEFT_SIMULATION_BUDGET_quick}s")
  add_test(NAME simulation_mutants COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/mutants.py --searches 1
    --most 10000)
  set_tests_properties(simulation_mutants PROPERTIES RUN_SERIAL TRUE LABELS
    "simulation;soak;budget=${WEFT_SIMULATION_BUDGET_soak}s")
endif()

# The table of a scenario shows Weft's own steps, since Weft is what is tested.
add_test(NAME simulation_table COMMAND simulation --filter=Mutex.IsSharedByUnitsAndOsThreads --trace --lines=20)
set_tests_properties(simulation_table PROPERTIES PASS_REGULAR_EXPRESSION "futex-wake\n" LABELS
  "simulation;quick;budget=${WEFT_SIMULATION_BUDGET_quick}s")
add_test(NAME simulation_table_of_the_program COMMAND simulation --filter=Mutex.IsSharedByUnitsAndOsThreads --trace
  --lines=20 --no-weft-steps)
set_tests_properties(simulation_table_of_the_program PROPERTIES PASS_REGULAR_EXPRESSION "steps within Weft\n"
  FAIL_REGULAR_EXPRESSION "futex-wake\n" LABELS
  "simulation;quick;budget=${WEFT_SIMULATION_BUDGET_quick}s")

# The simulator's own test, through its public header.
add_executable(simulation_explore_test test/simulation/explore_test.cpp)
target_link_libraries(simulation_explore_test PRIVATE weft_test_main weft::sim GTest::gtest)
target_compile_options(simulation_explore_test PRIVATE ${WEFT_WARNINGS} ${WEFT_TEST_OPTIONS})
add_test(NAME simulation_explore_test COMMAND simulation_explore_test)
set_tests_properties(simulation_explore_test PROPERTIES LABELS
  "simulation;quick;budget=${WEFT_SIMULATION_BUDGET_quick}s")

# How work spreads over many harts, by counts (doc/simulation.md): the figures do not depend on the
# machine. A lock that all streams need would make the tree on 32 harts some eight times as fast as
# one piece after the other; without one it is 23 to 26 times as fast.
add_executable(scaling test/simulation/scaling.cpp)
target_include_directories(scaling PRIVATE ${CMAKE_SOURCE_DIR} ${WEFT_SIM_INSIDE})
target_compile_definitions(scaling PRIVATE ${WEFT_SIM_DEFINITIONS})
target_compile_options(scaling PRIVATE ${WEFT_WARNINGS} -O1 -g1)
target_link_libraries(scaling PRIVATE weft_sim)
add_executable(simulation_costs_test test/simulation/costs_test.cpp)
target_include_directories(simulation_costs_test PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(simulation_costs_test PRIVATE weft_test_main weft::sim GTest::gtest)
target_compile_options(simulation_costs_test PRIVATE ${WEFT_WARNINGS} ${WEFT_TEST_OPTIONS})
add_test(NAME simulation_costs_test COMMAND simulation_costs_test)
add_test(NAME simulation_scaling_forks COMMAND scaling --only=forks --harts=32 --least=12)
add_test(NAME simulation_scaling_work COMMAND scaling --harts=8)
set_tests_properties(simulation_costs_test simulation_scaling_forks simulation_scaling_work PROPERTIES LABELS
  "simulation;quick;budget=${WEFT_SIMULATION_BUDGET_quick}s")
