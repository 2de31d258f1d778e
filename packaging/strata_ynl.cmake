# strata_ynl(TARGET SPEC...): typed commands of netlink families, which `strata nl generate` makes
# of their YNL specifications; the target includes each as "FAMILY.hpp", after its file's name.
# strata_PROGRAM is the program, or the target that builds it.
function(strata_ynl target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_ynl)
  file(MAKE_DIRECTORY ${folder})
  foreach(spec ${ARGN})
    get_filename_component(spec ${spec} ABSOLUTE)
    get_filename_component(family ${spec} NAME_WE)
    # Another build of the program is no reason to compile the same header again.
    add_custom_command(OUTPUT ${folder}/${family}.hpp
      COMMAND ${strata_PROGRAM} nl generate ${spec} > ${folder}/${family}.hpp.new
      COMMAND ${CMAKE_COMMAND} -E copy_if_different
        ${folder}/${family}.hpp.new ${folder}/${family}.hpp
      DEPENDS ${strata_PROGRAM} ${spec} VERBATIM)
    target_sources(${target} PRIVATE ${folder}/${family}.hpp)
  endforeach()
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
