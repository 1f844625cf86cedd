//===- TableText.h - Documents of tables and chips --------------*- C++ -*-===//

#ifndef NM_LIB_TABLES_TABLETEXT_H
#define NM_LIB_TABLES_TABLETEXT_H

#include "nm/Tables/ScheduleTable.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLTraits.h"
#include "llvm/Support/raw_ostream.h"

namespace llvm::yaml {
template <>
struct MappingTraits<nm::TableDevice> {
  static void mapping(IO &io, nm::TableDevice &device) {
    io.mapRequired("name", device.name);
    io.mapRequired("chip", device.chip);
    io.mapRequired("units", device.units);
    io.mapOptional("ghz", device.clock, 0.0);
    io.mapOptional("gb_per_s", device.bandwidth, 0.0);
  }
  static std::string validate(IO &, nm::TableDevice &device) {
    return device.name.empty() || device.units < 1
               ? "expected a device with a name and one unit at least"
               : "";
  }
  static constexpr bool flow = true;
};
} // namespace llvm::yaml

namespace nm {

/// The documents of `text`, which errors call `name`, and where there are none
/// for another reason they say no `what`.
template <typename Document>
Result<std::vector<Document>> readDocuments(std::string_view text,
                                            const std::string &name,
                                            const char *what) {
  std::string message;
  auto keepFirst = [](const llvm::SMDiagnostic &diagnostic, void *to) {
    auto &message = *static_cast<std::string *>(to);
    if (message.empty())
      message = std::to_string(diagnostic.getLineNo()) + ": " +
                diagnostic.getMessage().str();
  };
  llvm::yaml::Input input(
      llvm::MemoryBufferRef(llvm::StringRef(text.data(), text.size()), name),
      nullptr, keepFirst, &message);
  std::vector<Document> documents;
  input >> documents;
  if (input.error())
    return Error{name + ":" +
                 (message.empty() ? std::string(" no ") + what : message)};
  return documents;
}

template <typename Document>
std::string writeDocuments(std::vector<Document> documents) {
  std::string text;
  llvm::raw_string_ostream os(text);
  // Lines are not broken: a schedule stays on one.
  llvm::yaml::Output output(os, nullptr, /*WrapColumn=*/0);
  output << documents;
  return text;
}

Result<std::string> readWholeFile(const std::string &path);

/// Replaces the file whole, by a rename.
Status replaceFile(const std::string &path, const std::string &text);

} // namespace nm

#endif // NM_LIB_TABLES_TABLETEXT_H
