//===- SourceLocation.h - Where an op was written ---------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_SOURCELOCATION_H
#define NM_DIALECT_NM_IR_SOURCELOCATION_H

#include "mlir/IR/Location.h"

#include <string>

namespace mlir::nm {

/// `file:line:column` of the first place in a file that `location` has; empty
/// where it has none.
std::string getPlace(Location location);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_SOURCELOCATION_H
