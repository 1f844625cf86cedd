# What `cmake --install` puts in place, and the package that find_package(NM)
# finds there.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# llvm_setup_rpath would leave LLVM's folder, which Debian keeps off the
# loader's path, out of the installed tools.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# add_mlir_library ends by calling this. Upstream's puts the target in the
# export set MLIRTargets; here all of nm's targets are in one set of its own.
function(add_mlir_library_install name)
  install(TARGETS ${name} EXPORT NMTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

set(NM_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/nm)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nm
                  ${PROJECT_SOURCE_DIR}/include/nm-c
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/nm
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.inc"
        PATTERN CMakeFiles EXCLUDE)

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/NMConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/NMConfig.cmake
  INSTALL_DESTINATION ${NM_PACKAGE_DIR})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/NMConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/NMStaticLLVM.cmake
              ${PROJECT_BINARY_DIR}/cmake/NMConfig.cmake
              ${PROJECT_BINARY_DIR}/cmake/NMConfigVersion.cmake
        DESTINATION ${NM_PACKAGE_DIR})
install(EXPORT NMTargets DESTINATION ${NM_PACKAGE_DIR})
