# What `make install` puts where; users find the library by find_package(strata) or pkg-config.
include(CMakePackageConfigHelpers)

install(TARGETS strata RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES docs/openapi.yaml DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES packaging/strata.service DESTINATION lib/systemd/system)
install(FILES packaging/lua/strata.lua DESTINATION ${CMAKE_INSTALL_DATADIR}/strata/lua)
install(FILES ${ynl_specs} kernel/ynl/linux/LICENSE
  DESTINATION ${CMAKE_INSTALL_DATADIR}/strata/ynl)

# The component `c` is what bindings need.
install(DIRECTORY include/strata DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT c)
install(TARGETS strata_library EXPORT strataTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS strata_c EXPORT strataTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  COMPONENT c)

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

# The prefix is known only when it is installed (`cmake --install --prefix`).
foreach(name strata strata-c)
  install(CODE "
    set(PROJECT_VERSION ${PROJECT_VERSION})
    set(CMAKE_INSTALL_LIBDIR ${CMAKE_INSTALL_LIBDIR})
    set(CMAKE_INSTALL_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
    configure_file(${PROJECT_SOURCE_DIR}/packaging/${name}.pc.in
      ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)" COMPONENT c)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT c)
endforeach()
