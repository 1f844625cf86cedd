//===- OtherTargets.cpp - In place of parts of LLVM that nm does not use --===//
//
// LLD registers every target that LLVM was built with, and optimizes bitcode
// with Polly. nm gives it neither: without these the code of twenty targets
// would be linked, and Debian has no archive of Polly.
//
//===----------------------------------------------------------------------===//

#include "llvm/Plugins/PassPlugin.h"

// CMake lists the targets as NM_TARGET(AMDGPU) NM_TARGET(ARM) …
#define NM_TARGET(Name)                                                        \
  void LLVMInitialize##Name##TargetInfo() {}                                   \
  void LLVMInitialize##Name##Target() {}                                       \
  void LLVMInitialize##Name##TargetMC() {}                                     \
  void LLVMInitialize##Name##AsmPrinter() {}                                   \
  void LLVMInitialize##Name##AsmParser() {}

extern "C" {
NM_OTHER_TARGETS
}

llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }
