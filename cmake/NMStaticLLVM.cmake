# Has nm's libraries link the archives of MLIR and LLVM.

# What stands for libLLVM.so: what MLIR's archives and ours use of it, and what
# that uses. A linker takes what is used.
if(NOT TARGET NM::StaticLLVM)
  llvm_map_components_to_libnames(archives
    ${LLVM_TARGETS_TO_BUILD} analysis asmparser bitreader bitwriter codegen core
    debuginfodwarf executionengine frontendopenmp frontendoffloading interfacestub ipo irreader
    jitlink linker mc object orcdebugging orcjit passes support target targetparser
    transformutils)
  # Listeners of a JIT, where LLVM was built with them.
  foreach(name LLVMIntelJITEvents LLVMPerfJITEvents)
    if(TARGET ${name})
      list(APPEND archives ${name})
    endif()
  endforeach()
  foreach(name IN LISTS archives)
    if(NOT TARGET ${name})
      message(FATAL_ERROR "expected an archive of ${name} for NM_LINK_STATIC_LLVM, "
                          "but found none in ${LLVM_LIBRARY_DIR}")
    endif()
  endforeach()
  add_library(NM::StaticLLVM INTERFACE IMPORTED)
  set_target_properties(NM::StaticLLVM PROPERTIES
    INTERFACE_LINK_LIBRARIES "${archives}")
endif()

# An LLVM that was built for libLLVM.so and libMLIR.so, as Debian's, names them in
# its archives, and so does nm that was built with it. What MLIR's execution engine
# names libMLIR.so for:
if(NOT TARGET NM::StaticMLIR)
  add_library(NM::StaticMLIR INTERFACE IMPORTED)
  set_target_properties(NM::StaticMLIR PROPERTIES
    INTERFACE_LINK_LIBRARIES "MLIRBuiltinToLLVMIRTranslation;MLIRLLVMToLLVMIRTranslation;MLIROpenMPToLLVMIRTranslation;MLIRTargetLLVMIRExport")
endif()
get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(name IN LISTS imported)
  get_target_property(libraries ${name} INTERFACE_LINK_LIBRARIES)
  if("LLVM" IN_LIST libraries)
    list(TRANSFORM libraries REPLACE "^LLVM$" NM::StaticLLVM)
    list(TRANSFORM libraries REPLACE "^MLIR$" NM::StaticMLIR)
    set_target_properties(${name} PROPERTIES
      INTERFACE_LINK_LIBRARIES "${libraries}")
  endif()
endforeach()
