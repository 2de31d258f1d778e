# What `make install` puts where; users find the library by find_package(strata) or pkg-config.
# Everything finds the rest by where it lies itself, so that the prefix may be moved.
include(CMakePackageConfigHelpers)

set(data_dir ${CMAKE_INSTALL_DATADIR}/strata)
install(TARGETS strata RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES packaging/lua/strata.lua DESTINATION ${data_dir}/lua)
install(FILES ${ynl_specs} kernel/ynl/linux/LICENSE DESTINATION ${data_dir}/ynl)

# What `strata bench` measures beside strata: plain C, and the netlink clients if they are built.
if(NOT "bench" IN_LIST left_out)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/strata-plain-packet
    DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/strata)
endif()
install(PROGRAMS ${PROJECT_BINARY_DIR}/clients/pure ${PROJECT_BINARY_DIR}/clients/pure_static
  ${PROJECT_BINARY_DIR}/clients/libnl
  ${PROJECT_BINARY_DIR}/clients/neli ${PROJECT_BINARY_DIR}/clients/cpp
  ${PROJECT_BINARY_DIR}/clients/rust
  DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/strata/clients OPTIONAL)

# What the program writes of its tables: the manual page, and the JSON Schema of stacks. Then what
# its completion needs of shells.
if(NOT CMAKE_CROSSCOMPILING)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/strata.1
    COMMAND strata help --man > ${PROJECT_BINARY_DIR}/strata.1 DEPENDS strata VERBATIM)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/strata.schema.json
    COMMAND strata lint --schema > ${PROJECT_BINARY_DIR}/strata.schema.json DEPENDS strata VERBATIM)
  add_custom_target(strata_tables ALL
    DEPENDS ${PROJECT_BINARY_DIR}/strata.1 ${PROJECT_BINARY_DIR}/strata.schema.json)
  install(FILES ${PROJECT_BINARY_DIR}/strata.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_BINARY_DIR}/strata.schema.json DESTINATION ${data_dir})
endif()
install(FILES packaging/completions/strata.bash RENAME strata
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES packaging/completions/_strata
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES packaging/completions/strata.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# `make build`.
add_custom_target(installed DEPENDS strata ${libraries})
if(TARGET strata_tables)
  add_dependencies(installed strata_tables)
endif()
if(NOT "bench" IN_LIST left_out)
  add_dependencies(installed strata-plain-packet)
endif()

# The documentation lies as in the tree, so that the links between its pages lead somewhere.
set(not_sources PATTERN target EXCLUDE PATTERN _build EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES README.md ARCHITECTURE.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES bench/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)
install(DIRECTORY docs examples kernel DESTINATION ${CMAKE_INSTALL_DOCDIR}
  USE_SOURCE_PERMISSIONS ${not_sources})
# Where `make reference` has made it.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/build/reference DESTINATION ${CMAKE_INSTALL_DOCDIR}
  OPTIONAL)
install(DIRECTORY bindings DESTINATION ${data_dir} USE_SOURCE_PERMISSIONS ${not_sources})
foreach(linked bindings include)
  set(bindings_dir ${CMAKE_INSTALL_FULL_DATADIR}/strata/bindings)
  set(include_dir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  file(RELATIVE_PATH target ${CMAKE_INSTALL_FULL_DOCDIR} ${${linked}_dir})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/links)
  file(CREATE_LINK ${target} ${PROJECT_BINARY_DIR}/links/${linked} SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/links/${linked} DESTINATION ${CMAKE_INSTALL_DOCDIR})
endforeach()

# The component `c` is what bindings need.
install(DIRECTORY include/strata DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT c)
list(REMOVE_ITEM libraries strata_library)
install(TARGETS strata_library EXPORT strataTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ${libraries} EXPORT strataTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT c
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT c)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/strata)
install(EXPORT strataTargets NAMESPACE strata:: DESTINATION ${package_dir})
configure_package_config_file(packaging/strataConfig.cmake.in
  ${PROJECT_BINARY_DIR}/strataConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/strataConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/strataConfig.cmake
  ${PROJECT_BINARY_DIR}/strataConfigVersion.cmake packaging/strata_ynl.cmake
  DESTINATION ${package_dir})

file(RELATIVE_PATH to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(name strata strata-xdp strata-c)
  configure_file(packaging/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT c)
endforeach()

# A unit takes no path that is relative to it, and the prefix is known only when it is installed
# (`cmake --install --prefix`).
install(CODE "
  set(bin_dir ${CMAKE_INSTALL_BINDIR})
  cmake_path(ABSOLUTE_PATH bin_dir BASE_DIRECTORY \${CMAKE_INSTALL_PREFIX} NORMALIZE)
  configure_file(${PROJECT_SOURCE_DIR}/packaging/strata.service.in
    ${PROJECT_BINARY_DIR}/strata.service @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/strata.service DESTINATION lib/systemd/system)
install(FILES packaging/l2.conf packaging/xdp.conf packaging/cgroup.conf
  DESTINATION ${CMAKE_INSTALL_DATADIR}/strata/systemd)
