# Builds for riscv64 Linux with Debian's libraries of that processor: libc6-dev-riscv64-cross and
# libstdc++-12-dev-riscv64-cross.

set(CMAKE_SYSTEM_PROCESSOR riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/NMCrossLinux.cmake)
