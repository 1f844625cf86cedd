# NM_RUNTIME_ONLY: libnm_runtime.so, libnm_sim.so and nm-run, which need no LLVM, as for a
# processor that modules are compiled for elsewhere. scripts/build-runtime calls this.

include(GNUInstallDirs)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
# Folders of the machine that builds are not of the one that runs.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
include_directories(${PROJECT_SOURCE_DIR}/include)
foreach(folder Support Format Schedule Runtime Sim Run)
  add_subdirectory(lib/${folder})
endforeach()
add_subdirectory(tools/nm-run)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nm-c
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
