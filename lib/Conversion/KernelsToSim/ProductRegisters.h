//===- ProductRegisters.h - Where wgmma's registers are used ----*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_KERNELSTOSIM_PRODUCTREGISTERS_H
#define NM_LIB_CONVERSION_KERNELSTOSIM_PRODUCTREGISTERS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::nm {

/// What ops do to the registers of the wgmmas of a function, which are under
/// way while the function goes on. Values that are passed on as they are, to a
/// block's argument or into a struct, are taken to stay in their registers.
class ProductRegisters {
public:
  enum class Use {
    /// Is the wgmma itself.
    Start,
    /// Reads its sums, or makes what they begin with.
    Sums,
    /// Makes a new value of what it reads from a register: A or metadata.
    Operand
  };
  struct Entry {
    Use use;
    /// The wgmma's number in the module.
    int32_t product;
  };

  /// `numProducts` are those of the functions before, and counted on.
  ProductRegisters(LLVM::LLVMFuncOp function, int32_t &numProducts);

  /// What `op` does, in order.
  ArrayRef<Entry> get(Operation *op) const;

private:
  void add(Operation *op, Use use, int32_t product);
  void addUses(Value sums, int32_t product);
  void addOrigins(Value sum, int32_t product);
  void addDefinition(Value value, int32_t product);

  DenseMap<Operation *, SmallVector<Entry>> entries;
};

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_KERNELSTOSIM_PRODUCTREGISTERS_H
