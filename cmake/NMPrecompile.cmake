# NM_PRECOMPILE_HEADERS: reads the headers of MLIR and of nm's dialect once instead of for each
# source. The precompiled file takes 250 MB.
option(NM_PRECOMPILE_HEADERS "Precompile the headers of MLIR and of nm's dialect" ON)

# The libraries that are built from sources in `directory` and below it.
function(nm_list_libraries directory result)
  get_property(found DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(folder ${folders})
    nm_list_libraries(${folder} inside)
    list(APPEND found ${inside})
  endforeach()
  set(libraries)
  foreach(target ${found})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(OBJECT|STATIC)_LIBRARY$")
      list(APPEND libraries ${target})
    endif()
  endforeach()
  set(${result} ${libraries} PARENT_SCOPE)
endfunction()

# Has the libraries in these folders include the header's headers first.
function(nm_precompile_headers header)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/NMPrecompiled.cpp)
  file(WRITE ${source} "")
  add_library(nm_precompiled OBJECT ${source})
  llvm_update_compile_flags(nm_precompiled)
  target_precompile_headers(nm_precompiled PRIVATE ${header})
  # Without the times of its headers the precompiled file of two clones is equal, and a compiler
  # cache answers in the second.
  target_compile_options(nm_precompiled PRIVATE
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  add_dependencies(nm_precompiled MLIRNMIncGen)
  foreach(folder ${ARGN})
    nm_list_libraries(${CMAKE_CURRENT_SOURCE_DIR}/${folder} libraries)
    foreach(library ${libraries})
      target_precompile_headers(${library} REUSE_FROM nm_precompiled)
    endforeach()
  endforeach()
endfunction()
