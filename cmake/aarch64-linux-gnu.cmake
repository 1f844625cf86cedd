# Builds for aarch64 Linux with Debian's libraries of that processor: libc6-dev-arm64-cross and
# libstdc++-12-dev-arm64-cross.

set(CMAKE_SYSTEM_PROCESSOR aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/NMCrossLinux.cmake)
