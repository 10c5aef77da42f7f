# The bridge's tests lie beside its code, x_test.cpp, and include abt.h alone: what they say of libabt they could say of any other.
add_library(weft_abt_test_main OBJECT ${CMAKE_SOURCE_DIR}/test/main.cpp)
target_link_libraries(weft_abt_test_main PRIVATE GTest::gtest)

add_executable(weft_abt_test_pch EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/test/pch.cpp)
target_link_libraries(weft_abt_test_pch PRIVATE GTest::gtest)
target_compile_options(weft_abt_test_pch PRIVATE ${WEFT_WARNINGS} ${WEFT_TEST_OPTIONS})
target_precompile_headers(weft_abt_test_pch PRIVATE <gtest/gtest.h>)

file(GLOB weft_abt_test_files CONFIGURE_DEPENDS src/*_test.cpp)
foreach(file ${weft_abt_test_files})
  get_filename_component(name ${file} NAME_WE)
  add_executable(abt_${name} ${file})
  target_link_libraries(abt_${name} PRIVATE weft_abt_test_main weft_abt_static GTest::gtest Threads::Threads)
  target_compile_options(abt_${name} PRIVATE ${WEFT_WARNINGS} ${WEFT_TEST_OPTIONS})
  target_precompile_headers(abt_${name} REUSE_FROM weft_abt_test_pch)
  add_test(NAME abt_${name} COMMAND abt_${name} ${WEFT_TEST_ARGUMENTS})
  weft_label(abt_${name} quick)
endforeach()

# The header, as C and as C++. That a function of another type does not compile is the test; linked, it shows that all are there.
foreach(language c cpp)
  add_executable(abt_abi_${language} abi_test.${language})
  target_link_libraries(abt_abi_${language} PRIVATE weft_abt_static Threads::Threads)
  target_compile_options(abt_abi_${language} PRIVATE -Wall -Wextra -Wpedantic -Werror)
  add_test(NAME abt_abi_${language} COMMAND abt_abi_${language})
  weft_label(abt_abi_${language} quick)
endforeach()
set_target_properties(abt_abi_c PROPERTIES LINKER_LANGUAGE CXX)

if(COMMAND weft_house_test)
  weft_house_test(argobots_symbols ${weft_tools}/symbols.py --library $<TARGET_FILE:weft_abt> --list ${CMAKE_CURRENT_SOURCE_DIR}/exports.txt)
endif()
