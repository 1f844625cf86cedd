//===- FieldText.cpp - Attributes as text of their fields -----------------===//

#include "Fields.h"

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::nm;

/// Fields that are texts, and not the names of cases.
static bool isText(StringRef name) {
  return llvm::is_contained({"chip", "reason", "name", "strategy", "why_not"},
                            name);
}

static bool isWord(StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || c == '_';
  });
}

namespace {
/// Writes fields as the parsers of #nm attributes read them.
class FieldPrinter {
public:
  FieldPrinter(llvm::raw_ostream &stream, EmitError emitError)
      : stream(stream), emitError(emitError) {}

  LogicalResult print(DictionaryAttr fields, StringRef without = {}) {
    llvm::ListSeparator comma;
    for (NamedAttribute field : fields) {
      if (field.getName() == without)
        continue;
      if (!isWord(field.getName()))
        return emitError() << "expected the name of a field, but got "
                           << field.getName();
      stream << comma << field.getName().strref() << " = ";
      if (failed(print(field)))
        return failure();
    }
    return success();
  }

private:
  LogicalResult print(NamedAttribute field);
  LogicalResult printDictionary(DictionaryAttr fields);

  llvm::raw_ostream &stream;
  EmitError emitError;
};
} // namespace

/// A packing, or a schedule, which says its strategy.
LogicalResult FieldPrinter::printDictionary(DictionaryAttr fields) {
  if (auto strategy = fields.getAs<StringAttr>("strategy")) {
    if (!isWord(strategy.getValue()))
      return emitError() << "expected a strategy, but got " << strategy;
    stream << "#nm." << strategy.getValue();
    if (fields.size() == 1)
      return success();
  }
  stream << "<";
  if (failed(print(fields, /*without=*/"strategy")))
    return failure();
  stream << ">";
  return success();
}

LogicalResult FieldPrinter::print(NamedAttribute field) {
  Attribute value = field.getValue();
  if (auto sizes = dyn_cast<DenseI64ArrayAttr>(value)) {
    stream << "[";
    llvm::interleaveComma(sizes.asArrayRef(), stream);
    stream << "]";
    return success();
  }
  if (auto fields = dyn_cast<DictionaryAttr>(value))
    return printDictionary(fields);
  if (auto choice = dyn_cast<BoolAttr>(value)) {
    stream << (choice.getValue() ? "true" : "false");
    return success();
  }
  if (auto number = dyn_cast<IntegerAttr>(value);
      number && number.getType().isSignlessInteger(64)) {
    stream << number.getInt();
    return success();
  }
  auto word = dyn_cast<StringAttr>(value);
  if (word && !isText(field.getName())) {
    if (!isWord(word.getValue()))
      return emitError() << "expected the name of a case in " << field.getName()
                         << ", but got " << word;
    stream << word.getValue();
    return success();
  }
  auto list = dyn_cast<ArrayAttr>(value);
  bool isOfNM = list ? llvm::all_of(list,
                                    [](Attribute entry) {
                                      return isa<NMDialect>(entry.getDialect());
                                    })
                     : isa<NMDialect>(value.getDialect());
  if (word || isa<FloatAttr>(value) || isOfNM) {
    value.print(stream);
    return success();
  }
  return emitError() << "expected " << field.getName()
                     << " to be an array of i64, an i64, a boolean, a string, "
                        "an f64 or attributes of dialect nm, but got "
                     << value;
}

Attribute mlir::nm::getByText(StringRef mnemonic, DictionaryAttr fields,
                              EmitError emitError) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "#nm." << mnemonic;
  if (!fields.empty()) {
    stream << "<";
    if (failed(FieldPrinter(stream, emitError).print(fields)))
      return {};
    stream << ">";
  }
  return parseAttribute(text, fields.getContext());
}
