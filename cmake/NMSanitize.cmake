# Builds of everything under a sanitizer, as the presets `asan` and `tsan` make
# them:
#   NM_SANITIZE=address   AddressSanitizer and UndefinedBehaviorSanitizer
#   NM_SANITIZE=thread    ThreadSanitizer
# docs/Hardening.md says how to run them. LLVM's own libraries are not
# instrumented: an array that both sides change would look overrun, so that
# ASAN_OPTIONS=detect_container_overflow=0 has to be set.

set(NM_SANITIZE "" CACHE STRING "address, thread, or nothing")
set_property(CACHE NM_SANITIZE PROPERTY STRINGS "" address thread)
# What Python, which is no instrumented program, has to load before our
# libraries.
set(NM_SANITIZER_RUNTIME "")
if(NOT NM_SANITIZE)
  return()
endif()

if(NM_SANITIZE STREQUAL "address")
  set(runtime asan)
  # Stacks of simulated threads are changed by hand, so that frames stay on
  # them. The types of LLVM's objects are not always emitted for `vptr`.
  set(flags -fsanitize=address,undefined -fno-sanitize=vptr,function
      -fno-sanitize-recover=undefined
      -fsanitize-address-use-after-return=never)
elseif(NM_SANITIZE STREQUAL "thread")
  set(runtime tsan)
  set(flags -fsanitize=thread)
else()
  message(FATAL_ERROR
          "expected NM_SANITIZE to be address or thread, but got '${NM_SANITIZE}'")
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "expected clang for NM_SANITIZE, but got ${CMAKE_CXX_COMPILER}")
endif()

# Shared, so that our libraries say what they need, as -z defs wants it.
add_compile_options(${flags} -fno-omit-frame-pointer)
add_link_options(${flags} -shared-libsan)
execute_process(
  COMMAND ${CMAKE_CXX_COMPILER}
          -print-file-name=libclang_rt.${runtime}-${CMAKE_SYSTEM_PROCESSOR}.so
  OUTPUT_VARIABLE NM_SANITIZER_RUNTIME OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT EXISTS "${NM_SANITIZER_RUNTIME}")
  message(FATAL_ERROR "no ${runtime} of ${CMAKE_CXX_COMPILER}: Debian has it in "
                      "libclang-rt-22-dev")
endif()
get_filename_component(folder "${NM_SANITIZER_RUNTIME}" DIRECTORY)
list(APPEND CMAKE_BUILD_RPATH "${folder}")
list(APPEND CMAKE_INSTALL_RPATH "${folder}")
