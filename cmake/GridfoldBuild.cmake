# Flags that every target shares, and the two functions by which a folder
# declares itself:
#
#   gridfold_library(engine DEPENDS topology)            # src/engine/*.cpp
#   gridfold_test(engine DEPENDS policies)               # src/engine/*_test.cpp
#
# A folder lists its direct dependencies only; tests/includes_test.py names any
# include that the arrows of src/README.md do not allow.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

find_program(CCACHE ccache)
if(CCACHE)
  # Relative paths, so that two checkouts share one cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

set(GRIDFOLD_SANITIZE "" CACHE STRING "comma-separated sanitizers, such as address,undefined")
add_compile_options(-Wall -Wextra -Wshadow -Wno-missing-field-initializers -Werror
                    -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
if(GRIDFOLD_SANITIZE)
  add_compile_options(-fsanitize=${GRIDFOLD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${GRIDFOLD_SANITIZE})
  if(GRIDFOLD_SANITIZE MATCHES thread)
    # Asio has fences, which the thread sanitizer does not follow; with it, gcc 12
    # takes the storage of an empty optional for a value that is read.
    add_compile_options(-Wno-tsan -Wno-maybe-uninitialized)
  endif()
endif()
include_directories(${CMAKE_SOURCE_DIR}/src)

function(gridfold_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "(_(test|fuzz)|[_/]main)\\.cpp$")
  if(sources)
    add_library(gridfold_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(gridfold_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  foreach(dependency ${ARG_DEPENDS})
    target_link_libraries(gridfold_${name} ${scope} gridfold_${dependency})
  endforeach()
  target_link_libraries(gridfold_${name} ${scope} ${ARG_LINKS})
endfunction()

function(gridfold_test name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINKS;SOURCES" ${ARGN})
  if(ARG_SOURCES)
    set(sources ${ARG_SOURCES})
  else()
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  endif()
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_test ${sources})
  if(TARGET gridfold_${name})
    target_link_libraries(${name}_test PRIVATE gridfold_${name})
  endif()
  foreach(dependency ${ARG_DEPENDS})
    target_link_libraries(${name}_test PRIVATE gridfold_${dependency})
  endforeach()
  target_link_libraries(${name}_test PRIVATE ${ARG_LINKS} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name}_test PRIVATE GRIDFOLD_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                                  GRIDFOLD_BINARY_DIR="${CMAKE_BINARY_DIR}")
  gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST TEST_PREFIX ${name}.
                       PROPERTIES TIMEOUT 600)
endfunction()
