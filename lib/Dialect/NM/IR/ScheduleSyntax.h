//===- ScheduleSyntax.h - Parameters of schedules as text -------*- C++ -*-===//
//
// What the generated parsers, printers and lists of parameters of
// NMSchedules.td call.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_DIALECT_NM_IR_SCHEDULESYNTAX_H
#define NM_LIB_DIALECT_NM_IR_SCHEDULESYNTAX_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"

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

/// Parses the name of a case of an enum; the functions are those that the
/// enum's definition generates.
template <typename Enum>
FailureOr<std::optional<Enum>>
parseCase(AsmParser &parser, std::optional<Enum> (*find)(StringRef),
          std::optional<Enum> (*findNumber)(uint32_t),
          StringRef (*getName)(Enum)) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  if (std::optional<Enum> found = find(word))
    return found;
  SmallVector<StringRef> names;
  for (uint32_t i = 0; std::optional<Enum> known = findNumber(i); ++i)
    names.push_back(getName(*known));
  return parser.emitError(loc) << "expected one of " << llvm::join(names, ", ")
                               << ", but got '" << word << "'";
}

/// The parameters of a schedule as a dictionary, without what is left out.
class ParameterList {
public:
  explicit ParameterList(MLIRContext *context) : builder(context) {}

  void add(StringRef name, ArrayRef<int64_t> sizes) {
    if (!sizes.empty())
      list.set(name, builder.getDenseI64ArrayAttr(sizes));
  }
  void add(StringRef name, std::optional<int64_t> count) {
    if (count)
      list.set(name, builder.getI64IntegerAttr(*count));
  }
  void add(StringRef name, std::optional<bool> choice) {
    if (choice)
      list.set(name, builder.getBoolAttr(*choice));
  }
  void add(StringRef name, std::optional<CopyKind> way) {
    if (way)
      list.set(name, builder.getStringAttr(stringifyCopyKind(*way)));
  }
  void add(StringRef name, std::optional<TileOrder> order) {
    if (order)
      list.set(name, builder.getStringAttr(stringifyTileOrder(*order)));
  }
  void add(StringRef name, PackingAttr packing);
  void add(StringRef name, ScheduleAttrInterface schedule);

  DictionaryAttr take() { return list.getDictionary(builder.getContext()); }

private:
  Builder builder;
  NamedAttrList list;
};

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_IR_SCHEDULESYNTAX_H
