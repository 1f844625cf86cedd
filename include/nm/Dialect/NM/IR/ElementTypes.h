//===- ElementTypes.h - Element types of products ---------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_ELEMENTTYPES_H
#define NM_DIALECT_NM_IR_ELEMENTTYPES_H

#include "nm/Format/ElementType.h"

#include "mlir/IR/Types.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace mlir::nm {

/// What weights can be of, for messages.
inline constexpr llvm::StringLiteral kWeightElementTypes =
    "f32, f16, bf16, i8, f8E4M3FN or f8E5M2";

/// Whether weights can be of `type`, one of kWeightElementTypes.
bool isWeightElementType(Type type);

/// Whether `type` is a float of 8 bits that weights can be of.
bool isFloat8(Type type);

/// The format arithmetic's name of an MLIR element type, if it has one.
std::optional<::nm::ElementType> getElementType(Type type);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_ELEMENTTYPES_H
