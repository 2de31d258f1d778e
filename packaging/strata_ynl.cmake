# strata_ynl(TARGET SPEC...): typed commands of netlink families, made of their YNL specifications;
# the target includes each as "FAMILY.hpp", after the name of its file. Needs Python with PyYAML.
# Debian's python3-yaml is of Debian's Python, which may not be the first of PATH.
find_program(strata_python python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(strata_python python3)

function(strata_ynl target)
  if(NOT strata_python)
    message(FATAL_ERROR "strata_ynl needs python3, and python3-yaml: set strata_python to it")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_ynl)
  file(MAKE_DIRECTORY ${folder})
  foreach(spec ${ARGN})
    get_filename_component(spec ${spec} ABSOLUTE)
    get_filename_component(family ${spec} NAME_WE)
    add_custom_command(OUTPUT ${folder}/${family}.hpp
      COMMAND ${strata_python} ${strata_YNL_TO_CPP} ${spec} > ${folder}/${family}.hpp
      DEPENDS ${strata_YNL_TO_CPP} ${spec} VERBATIM)
    target_sources(${target} PRIVATE ${folder}/${family}.hpp)
  endforeach()
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
