# One `strata` that needs nothing but the kernel. All that STRATA_STATIC changes stands here; other
# places read these lists, which are empty without it.
set(left_out "")             # what is neither built nor installed
set(static_definitions "")   # for sources that differ in a static program
set(static_link_options "")  # for the program
if(NOT STRATA_STATIC)
  return()
endif()
list(APPEND left_out
  shared_library  # libstrata-c.so
  bench           # it measures the program that is linked as usual
  suites)         # of tests, but for the unit tests: what they look at does not depend on linking
set(static_definitions STRATA_STATIC)
# jemalloc's archive has operators `new` too: those that count for `bench` come first.
set(static_link_options -Wl,-z,muldefs)

# Where Debian has no archive of a library, `make static` has made one (tools/archives.sh). Archives
# alone are looked for.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(BUILD_SHARED_LIBS OFF)
add_link_options(-static)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/main.cpp PROPERTIES
  COMPILE_DEFINITIONS "${static_definitions}")
# It can load no libraries.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/measure/remote/remote_shell_library.cpp
  PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON
  COMPILE_DEFINITIONS "${static_definitions}")
link_directories(${CMAKE_PREFIX_PATH}/lib)
