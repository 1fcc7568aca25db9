# Fuzz targets. Each `*_fuzz.cpp` defines LLVMFuzzerTestOneInput and is built
# twice:
#
#   gridfold_fuzz(quantity SOURCES quantity_fuzz.cpp DEPENDS base)
#
# `quantity_replay`, always: a plain program that runs the target on every file
# of tests/data/fuzz/quantity; a test of that name keeps old findings fixed.
# `quantity_fuzzer`, with clang and -DGRIDFOLD_FUZZ=ON: libFuzzer itself.

option(GRIDFOLD_FUZZ "build the fuzzers (needs clang)" OFF)
set(GRIDFOLD_FUZZERS OFF)
if(GRIDFOLD_FUZZ)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(GRIDFOLD_FUZZERS ON)
    # Coverage for every library that a fuzzer calls.
    add_compile_options(-fsanitize=fuzzer-no-link)
  else()
    message(WARNING "GRIDFOLD_FUZZ needs clang; the fuzzers are left out")
  endif()
endif()

function(gridfold_fuzz name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  list(TRANSFORM ARG_DEPENDS PREPEND gridfold_)

  add_executable(${name}_replay ${ARG_SOURCES} ${CMAKE_SOURCE_DIR}/src/base/fuzz_replay_main.cc)
  target_link_libraries(${name}_replay PRIVATE ${ARG_DEPENDS})
  add_test(NAME fuzz.${name} COMMAND ${name}_replay ${CMAKE_SOURCE_DIR}/tests/data/fuzz/${name})
  set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 120)

  if(GRIDFOLD_FUZZERS)
    add_executable(${name}_fuzzer ${ARG_SOURCES})
    target_link_libraries(${name}_fuzzer PRIVATE ${ARG_DEPENDS} -fsanitize=fuzzer)
  endif()
endfunction()
