//===- Fields.h - Attributes and types by their fields ----------*- C++ -*-===//

#ifndef NM_LIB_CAPI_FIELDS_H
#define NM_LIB_CAPI_FIELDS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::nm {

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// An attribute of the dialect, as a dictionary of fields and back.
struct AttributeKind {
  StringRef mnemonic;
  bool (*isOne)(Attribute);
  /// Null after an error.
  Attribute (*get)(StringRef mnemonic, DictionaryAttr fields, EmitError);
  DictionaryAttr (*getFields)(Attribute);
};

/// The same of a type.
struct TypeKind {
  StringRef mnemonic;
  bool (*isOne)(Type);
  Type (*get)(DictionaryAttr fields, EmitError);
  DictionaryAttr (*getFields)(Type);
};

ArrayRef<AttributeKind> getAttributeKinds();
ArrayRef<TypeKind> getTypeKinds();

/// `#nm.<mnemonic><name = value, ...>`, which the attribute's own parser reads;
/// for attributes whose fields have names in their text, too.
Attribute getByText(StringRef mnemonic, DictionaryAttr fields, EmitError);

} // namespace mlir::nm

#endif // NM_LIB_CAPI_FIELDS_H
