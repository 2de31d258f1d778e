# Small libraries that are linked in: each one that is loaded costs every verb of the command line
# some 30 µs of its start. Where there is no archive, the shared library does.
#
#   strata_archives(VARIABLE LIBRARY ...)   the archives, in the order in which they need each other

function(strata_archives variable)
  set(found "")
  foreach(library ${ARGN})
    find_library(${library}_archive NAMES lib${library}.a ${library} REQUIRED)
    list(APPEND found ${${library}_archive})
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

strata_archives(archives edit tinfo bsd md)
set_target_properties(PkgConfig::libedit PROPERTIES INTERFACE_LINK_LIBRARIES "${archives}")
strata_archives(archives uring)
set_target_properties(PkgConfig::liburing PROPERTIES INTERFACE_LINK_LIBRARIES "${archives}")
strata_archives(yaml_archive yaml-cpp)
strata_archives(context_archive boost_context)
# Not for the library: what links with that has libbpf of its own.
strata_archives(bpf_archives xdp bpf elf)
list(APPEND bpf_archives -lz)
