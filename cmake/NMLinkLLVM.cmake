# Which form of MLIR and LLVM nm's libraries name: libMLIR.so and libLLVM.so, or,
# where a project that uses the installed package asks for it (NMConfig.cmake),
# the archives of what each of them uses.

# In place of upstream's, which decides for good when the library is built.
function(mlir_target_link_libraries target type)
  target_link_libraries(${target} ${type}
    "$<IF:$<TARGET_EXISTS:NM::StaticLLVM>,${ARGN},MLIR>")
endfunction()
