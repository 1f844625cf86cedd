//===- ElementTypes.h - Element types of products ---------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_ELEMENTTYPES_H
#define NM_DIALECT_NM_IR_ELEMENTTYPES_H

#include "nm/Format/ElementType.h"

#include "mlir/IR/Types.h"

#include <optional>

namespace mlir::nm {

/// Whether weights can be of `type`: f32, f16, bf16, i8 or f8E4M3FN.
bool isWeightElementType(Type type);

/// The format arithmetic's name of an MLIR element type, if it has one.
std::optional<::nm::ElementType> getElementType(Type type);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_ELEMENTTYPES_H
