# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The checks of the house: scripts in tools/ check the tree, and the library as it is installed.
# They need one compiler and one build, so they belong to the release group.
# tools/check_tools_test.py shows that each can fail.
if(NOT WEFT_GROUP STREQUAL "release")
  return()
endif()
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

function(weft_house_test name)
  add_test(NAME house_${name} COMMAND ${Python3_EXECUTABLE} ${ARGN})
  weft_label(house_${name} quick)
endfunction()

set(weft_tools ${CMAKE_SOURCE_DIR}/tools)
weft_house_test(layers ${weft_tools}/layers.py)
weft_house_test(tidy ${weft_tools}/tidy.py)
weft_house_test(format ${weft_tools}/format.py --check)
weft_house_test(variables ${weft_tools}/variables.py)
weft_house_test(documented ${weft_tools}/documented.py)
weft_house_test(contracts ${weft_tools}/contracts.py)
weft_house_test(headers ${weft_tools}/headers.py --build ${CMAKE_BINARY_DIR}
  --cc ${CMAKE_C_COMPILER} --cxx ${CMAKE_CXX_COMPILER})
weft_house_test(port ${CMAKE_SOURCE_DIR}/test/port/port_test.py --build ${CMAKE_BINARY_DIR})
weft_house_test(symbols ${weft_tools}/symbols.py --library $<TARGET_FILE:weft>)
weft_house_test(consumers ${CMAKE_SOURCE_DIR}/test/install/consumers.py --build ${CMAKE_BINARY_DIR}
  --version ${PROJECT_VERSION} --cc ${CMAKE_C_COMPILER} --cxx ${CMAKE_CXX_COMPILER})
# The tutorials, each done in an empty folder with Weft as a user has it installed.
set(weft_installed ${CMAKE_BINARY_DIR}/tutorials)
add_test(NAME house_installed COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --prefix ${weft_installed})
weft_label(house_installed quick)
set_tests_properties(house_installed PROPERTIES FIXTURES_SETUP installed)
file(GLOB weft_tutorials CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/doc/tutorials/*.md)
foreach(page ${weft_tutorials})
  get_filename_component(name ${page} NAME_WE)
  weft_house_test(tutorial_${name} ${CMAKE_SOURCE_DIR}/test/tutorials/tutorial.py ${page} --prefix ${weft_installed})
  set_tests_properties(house_tutorial_${name} PROPERTIES FIXTURES_REQUIRED installed)
endforeach()
if(TARGET variants)
  # Builds each variant: the group debug tests what the checks find; this test, that a user gets
  # them.
  add_test(NAME house_variants_full COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/test/install/variants.py --build
    ${CMAKE_BINARY_DIR}
    --cc ${CMAKE_C_COMPILER} --cxx ${CMAKE_CXX_COMPILER})
  weft_label(house_variants_full full)
  set_property(TEST house_variants_full APPEND PROPERTY LABELS needs=variants)
endif()
add_test(NAME house_site_full COMMAND ${Python3_EXECUTABLE} ${weft_tools}/site.py --out ${CMAKE_BINARY_DIR}/site
  --if-possible)
weft_label(house_site_full full)
set_tests_properties(house_site_full PROPERTIES SKIP_RETURN_CODE 77)
weft_house_test(tools_can_fail ${weft_tools}/check_tools_test.py)
