//===- BufferAlignment.h - Where buffers may start --------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_BUFFERALIGNMENT_H
#define NM_DIALECT_NM_IR_BUFFERALIGNMENT_H

#include "nm/Schedule/SharedBytes.h"

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::nm {

using ::nm::kLineBytes;

/// The bytes that a buffer of `type` in workgroup memory starts at a multiple
/// of: a line, or eight rows of a panel that is swizzled, 1024 bytes where
/// these have 128. wgmma and tensor copies XOR bits of addresses, so that the
/// pattern is the layout's only from there on (PTX ISA, "Swizzling Modes").
int64_t getBufferAlignment(MemRefType type);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_BUFFERALIGNMENT_H
