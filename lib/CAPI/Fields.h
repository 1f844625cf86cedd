//===- Fields.h - Attributes and types by their fields ----------*- C++ -*-===//

#ifndef NM_LIB_CAPI_FIELDS_H
#define NM_LIB_CAPI_FIELDS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::nm {

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// An attribute or a type of the dialect, as a dictionary of fields and back.
template <typename Object>
struct FieldsKind {
  StringRef mnemonic;
  bool (*isOne)(Object);
  /// Null after an error.
  Object (*get)(StringRef mnemonic, DictionaryAttr fields, EmitError);
  DictionaryAttr (*getFields)(Object);
};
using AttributeKind = FieldsKind<Attribute>;
using TypeKind = FieldsKind<Type>;

ArrayRef<AttributeKind> getAttributeKinds();
ArrayRef<TypeKind> getTypeKinds();

/// `#nm.<mnemonic><name = value, ...>`, which the attribute's own parser reads;
/// for attributes whose fields have names in their text, too.
Attribute getByText(StringRef mnemonic, DictionaryAttr fields, EmitError);

} // namespace mlir::nm

#endif // NM_LIB_CAPI_FIELDS_H
