# One static library a layer, so that a layer which uses what it may not is found when it is linked.
#
#   strata_layer(NAME [USES layer ...] [EXCEPT folder ...])
#
# NAME is a folder of lib/ or src/, EXCEPT its folders that are layers of their own. What it USES,
# and what that uses, is the table of tools/check/layer_table.py by whole layers; `make check`
# compares the two.

# What every file of src/ is compiled with: equal for all, so that they share one precompiled
# header.
add_library(strata_src INTERFACE)
target_include_directories(strata_src INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(strata_src INTERFACE STRATA_VERSION="${PROJECT_VERSION}")
target_link_libraries(strata_src INTERFACE strata_flags fmt::fmt spdlog::spdlog
  nlohmann_json::nlohmann_json ${yaml_archive} PkgConfig::liburing PkgConfig::xxhash
  PkgConfig::liblzf PkgConfig::libedit ZLIB::ZLIB PkgConfig::openssl PkgConfig::nghttp2
  resolv Threads::Threads)
target_include_directories(strata_src INTERFACE ${PROJECT_SOURCE_DIR}/include)

# The heavy headers are parsed once. Each header is still checked to compile alone.
file(CONFIGURE OUTPUT precompiled.cpp CONTENT "")
add_library(strata_precompiled OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
target_link_libraries(strata_precompiled PRIVATE strata_src)
target_precompile_headers(strata_precompiled PRIVATE <algorithm> <functional> <map> <memory>
  <string> <vector> <fmt/format.h> <nlohmann/json.hpp>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(strata_src INTERFACE -fpch-preprocess)
endif()

# Where specifications of netlink families are installed; one file's alone, so that no other is
# compiled again for another prefix. A build tree has them beside its program.
file(GLOB ynl_specs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernel/*.yaml
  ${PROJECT_SOURCE_DIR}/kernel/ynl/*.yaml ${PROJECT_SOURCE_DIR}/kernel/ynl/linux/*.yaml)
foreach(spec ${ynl_specs})
  file(COPY ${spec} DESTINATION ${PROJECT_BINARY_DIR}/share/strata/ynl)
endforeach()
file(RELATIVE_PATH libexec_from_program
  ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBEXECDIR})
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/measure/node/contender.cpp PROPERTIES
  SKIP_PRECOMPILE_HEADERS ON
  COMPILE_DEFINITIONS "STRATA_LIBEXEC_FROM_PROGRAM=\"${libexec_from_program}\"")
file(RELATIVE_PATH data_from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR})
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/ynl/search.cpp PROPERTIES
  SKIP_PRECOMPILE_HEADERS ON
  COMPILE_DEFINITIONS "STRATA_DATA_DIR=\"${CMAKE_INSTALL_FULL_DATADIR}\"")
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/ynl/search.cpp APPEND PROPERTY
  COMPILE_DEFINITIONS "STRATA_DATA_FROM_PROGRAM=\"${data_from_program}\"")
# Their names mean something else in other files of the folder.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/cli/runtimes/rows.cpp
  ${PROJECT_SOURCE_DIR}/src/text/yaml_text.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# Sets `unified` to the sources with files in place of most of them that include up to 8 of one
# folder. CMake's own ones name them by absolute paths, so that ccache would not know them from a
# clone in another folder; these, by paths relative to `root`.
function(strata_unify unified root sources)
  set(compiled "")
  set(groups "")
  foreach(source ${sources})
    get_source_file_property(is_skipped ${source} SKIP_UNITY_BUILD_INCLUSION)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    if(is_skipped OR definitions)
      list(APPEND compiled ${source})
      continue()
    endif()
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${root})
    cmake_path(GET source PARENT_PATH folder)
    math(EXPR part "${files_of_${folder}} + 0 >> 3")
    math(EXPR files_of_${folder} "${files_of_${folder}} + 1")
    list(APPEND groups ${folder}/${part})
    string(APPEND text_of_${folder}/${part} "#include \"${source}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group ${groups})
    set(file ${PROJECT_BINARY_DIR}/unity/${group}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text_of_${group}}" @ONLY)
    list(APPEND compiled ${file})
  endforeach()
  set(${unified} ${compiled} PARENT_SCOPE)
endfunction()

# runtime/proxy: strata_runtime_proxy
function(strata_layer_targets targets)
  list(TRANSFORM ARGN REPLACE "/" "_")
  list(TRANSFORM ARGN PREPEND strata_)
  set(${targets} ${ARGN} PARENT_SCOPE)
endfunction()

function(strata_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "USES;EXCEPT")
  if(STRATA_THREADS_ONLY AND name MATCHES "^(cli|measure)$")
    return()
  endif()
  strata_layer_targets(target ${name})
  set_property(GLOBAL APPEND PROPERTY strata_layers ${target})
  set(folder lib)
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/lib/${name})
    set(folder src)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|/testing/")
  foreach(folder_of_another IN LISTS layer_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "/${folder}/${name}/${folder_of_another}/")
  endforeach()
  if(STRATA_UNITY)
    strata_unify(sources ${PROJECT_SOURCE_DIR}/${folder} "${sources}")
  endif()
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(folder STREQUAL lib)
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include
      PRIVATE ${PROJECT_SOURCE_DIR}/lib)
    target_compile_definitions(${target} PRIVATE STRATA_VERSION="${PROJECT_VERSION}")
    target_link_libraries(${target} PRIVATE strata_flags ${bpf_archives})
  else()
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_link_libraries(${target} PUBLIC strata_src)
    target_precompile_headers(${target} REUSE_FROM strata_precompiled)
  endif()
  strata_layer_targets(used ${layer_USES})
  target_link_libraries(${target} PUBLIC ${used})
  if(BUILD_TESTING)
    strata_link_alone(${target})
  endif()
endfunction()

# A program of all the layer's objects and the layers that it uses: it links only where that is all
# they need.
file(CONFIGURE OUTPUT alone.cpp CONTENT "int main() {}\n")
function(strata_link_alone target)
  add_executable(${target}_alone ${PROJECT_BINARY_DIR}/alone.cpp)
  target_link_libraries(${target}_alone PRIVATE
    -Wl,--whole-archive ${target} -Wl,--no-whole-archive)
endfunction()
