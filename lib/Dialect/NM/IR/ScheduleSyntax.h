//===- ScheduleSyntax.h - Parameters of schedules as text -------*- C++ -*-===//
//
// What the generated parsers and printers of NMSchedules.td call.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_DIALECT_NM_IR_SCHEDULESYNTAX_H
#define NM_LIB_DIALECT_NM_IR_SCHEDULESYNTAX_H

#include "mlir/IR/OpImplementation.h"

#include <optional>

namespace mlir::nm {

/// Parses `[64, 128, 32]`.
inline FailureOr<SmallVector<int64_t>> parseSizes(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(sizes.emplace_back());
      }))
    return failure();
  return sizes;
}

inline void printSizes(AsmPrinter &printer, ArrayRef<int64_t> sizes) {
  printer << "[";
  llvm::interleaveComma(sizes, printer.getStream());
  printer << "]";
}

inline FailureOr<std::optional<int64_t>> parseCount(AsmParser &parser) {
  int64_t count;
  if (parser.parseInteger(count))
    return failure();
  return std::optional<int64_t>(count);
}

/// Parses `true` or `false`.
inline FailureOr<std::optional<bool>> parseChoice(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  if (word != "true" && word != "false")
    return parser.emitError(loc)
           << "expected true or false, but got '" << word << "'";
  return std::optional<bool>(word == "true");
}

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_IR_SCHEDULESYNTAX_H
