//===- OrderConstants.cpp - Constants in order of their first use ---------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMORDERCONSTANTS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// What bufferization calls a constant, before a number tells it from others.
static std::string getBaseName(MemRefType type) {
  std::string name("__constant_");
  llvm::raw_string_ostream stream(name);
  for (int64_t size : type.getShape())
    stream << size << 'x';
  stream << type.getElementType();
  return name;
}

static bool isOfBufferization(memref::GlobalOp global) {
  return global && global.isPrivate() && global.getConstant() &&
         global.getSymName().starts_with(getBaseName(global.getType()));
}

namespace {
struct NMOrderConstants
    : mlir::nm::impl::NMOrderConstantsBase<NMOrderConstants> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    llvm::MapVector<Operation *, SmallVector<memref::GetGlobalOp>> uses;
    module.walk([&](memref::GetGlobalOp use) {
      auto global = symbols.lookup<memref::GlobalOp>(use.getName());
      if (isOfBufferization(global))
        uses[global].push_back(use);
    });
    for (auto &[global, users] : uses)
      symbols.remove(global);
    for (auto &[op, users] : uses) {
      auto global = cast<memref::GlobalOp>(op);
      global.setSymName(getBaseName(global.getType()));
      symbols.insert(global);
      for (memref::GetGlobalOp user : users)
        user.setName(global.getSymName());
      // As bufferization of a single function places them.
      global->moveBefore(module.getBody(), module.getBody()->begin());
    }
  }
};
} // namespace
