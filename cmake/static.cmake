# One `strata` that needs nothing but the kernel. Where Debian has no archive of a library, `make
# static` has made one (tools/archives.sh). Looked for in place of shared libraries: archives alone.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(BUILD_SHARED_LIBS OFF)
add_link_options(-static)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/main.cpp PROPERTIES
  COMPILE_DEFINITIONS STRATA_STATIC)
# It can load no libraries.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/measure/remote/remote_shell_library.cpp
  PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON
  COMPILE_DEFINITIONS STRATA_STATIC)
link_directories(${CMAKE_PREFIX_PATH}/lib)
