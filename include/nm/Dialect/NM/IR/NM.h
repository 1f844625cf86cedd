//===- NM.h - The nm dialect ------------------------------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_NM_H
#define NM_DIALECT_NM_IR_NM_H

#include "nm/Dialect/NM/IR/NMPackedFormInterface.h"
#include "nm/Dialect/NM/IR/NMScheduleInterface.h"
#include "nm/Dialect/NM/IR/ProductRecord.h"
#include "nm/Format/BitmapPanels.h"
#include "nm/Format/Columns.h"
#include "nm/Format/Ell.h"
#include "nm/Format/PackedForm.h"
#include "nm/Format/Pattern.h"
#include "nm/Format/SparseOperand.h"
#include "nm/Format/TileLayout.h"
#include "nm/Schedule/GpuChip.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/SCF/IR/DeviceMappingInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "nm/Dialect/NM/IR/NMDialect.h.inc"
#include "nm/Dialect/NM/IR/NMEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "nm/Dialect/NM/IR/NMAttributes.h.inc"

namespace mlir::nm {
/// The attribute by which a linalg op says its `#nm.arithmetic`.
inline constexpr llvm::StringLiteral kArithmeticAttr = "nm.arithmetic";
/// The attribute by which a product keeps its `#nm.record`.
inline constexpr llvm::StringLiteral kRecordAttr = "nm.record";
/// On a memref.view of shared memory: the bytes that it starts at a multiple
/// of.
inline constexpr llvm::StringLiteral kAlignmentAttr = "nm.alignment";
} // namespace mlir::nm

#define GET_TYPEDEF_CLASSES
#include "nm/Dialect/NM/IR/NMTypes.h.inc"

namespace mlir::nm {
/// Columns of a panel of A, of 8-bit elements: as many as a core matrix of
/// wgmma has of a row (PTX ISA, "Matrix and Data Movement Shape").
inline constexpr int64_t kPanelColumnsOfA = 16;
} // namespace mlir::nm

namespace mlir::nm::detail {
/// i32 for integers, f32 for floats.
Type getProductAccumulatorType(Type elementType);
} // namespace mlir::nm::detail

#include "nm/Dialect/NM/IR/NMInterfaces.h.inc"

namespace mlir::nm {
/// The libraries that a process has loaded.
struct LibraryResource : SideEffects::Resource::Base<LibraryResource> {
  StringRef getName() final { return "Library"; }
};
} // namespace mlir::nm

#define GET_OP_CLASSES
#include "nm/Dialect/NM/IR/NMOps.h.inc"

namespace mlir::nm {
/// The smallest copy that cp.async makes, in bytes.
inline constexpr int64_t kMinAsyncBytes = 4;

/// The strides of a buffer of strided or tile layout, in elements.
SmallVector<int64_t> getBufferStrides(MemRefType type);
/// Its bytes, from its first element to its last row's end.
int64_t getBufferBytes(MemRefType type);

/// The columns of an A of `splits` splits that nm.split_floats makes of m;
/// dynamic where that is.
int64_t countSplitColumns(int64_t m, int64_t splits);
} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_NM_H
