//===- SiteTable.h - The instructions that a simulator calls for *- C++ -*-===//

#ifndef NM_LIB_CONVERSION_KERNELSTOSIM_SITETABLE_H
#define NM_LIB_CONVERSION_KERNELSTOSIM_SITETABLE_H

#include "nm/Sim/Abi.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::nm {

/// Numbers the instructions of a gpu.module, with what the simulator has to
/// know of each: see NmSimSite.
class SiteTable {
public:
  /// What an op accesses.
  struct Access {
    NmSimKind kind = NM_SIM_OTHER;
    NmSimSpace space = NM_SIM_GENERIC;
    int64_t bytes = 0, alignment = 1;
    /// Lanes that access memory, of an instruction of a warp: only the first
    /// ones do.
    int32_t lanes = 32;
  };

  int32_t add(Operation *op, const Access &access);
  /// Adds the table and its text to the module, as globals.
  std::pair<LLVM::GlobalOp, LLVM::GlobalOp>
  create(OpBuilder &builder, Location loc, StringRef prefix) const;
  int64_t size() const { return int64_t(rows.size() / kColumns); }

private:
  static constexpr int64_t kColumns = sizeof(NmSimSite) / sizeof(int32_t);

  int32_t addText(StringRef text);

  std::vector<int32_t> rows;
  llvm::StringMap<int32_t> offsets;
  std::string text;
};

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_KERNELSTOSIM_SITETABLE_H
