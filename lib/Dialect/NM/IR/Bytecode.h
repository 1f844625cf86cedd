//===- Bytecode.h - The dialect in MLIR's bytecode --------------*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_IR_BYTECODE_H
#define NM_LIB_DIALECT_NM_IR_BYTECODE_H

namespace mlir::nm {

class NMDialect;

/// Lets bytecode say which form of the dialect it has.
///
/// | version | what changed |
/// | --- | --- |
/// | none | products have their fields in the order of ODS |
/// | 1 | products have their fields by name |
/// | 2 | lists and scales are operands, and products say how many they have |
///
/// Attributes and types are stored as their text. Its fields have names, too,
/// so that one that is new, and has a default, needs no new version. A version
/// that is newer than the reader's is refused. Older files are read; where
/// their indices have lists of rows appended, which version 2 has not, the
/// verifier says so.
void addBytecodeInterface(NMDialect *dialect);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_IR_BYTECODE_H
