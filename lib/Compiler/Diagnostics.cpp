//===- Diagnostics.cpp - What a compilation has to say --------------------===//

#include "nm/Compiler/Diagnostics.h"

#include "nm/Dialect/NM/IR/SourceLocation.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using mlir::nm::Diagnostics;

static StringRef getSeverityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  return "";
}

std::string Diagnostics::Entry::str() const {
  return (Twine(place) + (place.empty() ? "" : ": ") +
          getSeverityName(severity) + ": " + message)
      .str();
}

void Diagnostics::add(Entry entry) {
  if (onEntry)
    onEntry(entry);
  entries.push_back(std::move(entry));
}

void Diagnostics::add(Diagnostic &diagnostic) {
  add({diagnostic.getSeverity(), getPlace(diagnostic.getLocation()),
       diagnostic.str()});
  for (Diagnostic &note : diagnostic.getNotes())
    add({DiagnosticSeverity::Note, getPlace(note.getLocation()), note.str()});
}

LogicalResult Diagnostics::fail(const Twine &message) {
  add({DiagnosticSeverity::Error, "", message.str()});
  return failure();
}

bool Diagnostics::hasErrors() const {
  return llvm::any_of(entries, [](const Entry &entry) {
    return entry.severity == DiagnosticSeverity::Error;
  });
}
