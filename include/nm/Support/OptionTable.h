//===- OptionTable.h - Command lines read from a table ----------*- C++ -*-===//
//
// The options of a program as one table, from which its command line is parsed
// and its help is written. For the programs that do without LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef NM_SUPPORT_OPTIONTABLE_H
#define NM_SUPPORT_OPTIONTABLE_H

#include "nm/Support/Error.h"
#include "nm/Support/Store.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace nm {

enum class Takes { Nothing, Value, OptionalValue };

/// How an option is written, and what is said of it.
struct OptionSyntax {
  const char *name;
  Takes takes;
  /// Empty where it takes nothing.
  const char *valueName;
  /// May have several lines.
  const char *help;
  /// A name of the version before, which is taken with a warning; null if none.
  const char *formerName = nullptr;
};

/// One of the options that fill a `Target`.
template <typename Target>
struct OptionEntry {
  OptionSyntax syntax;
  /// Stores a value, which is empty where none was given.
  Status (*set)(Target &target, const std::string &value);
};

/// An argument that was matched with an option.
struct GivenOption {
  /// Its number in the table.
  size_t entry = 0;
  std::string value;
  /// Whether the value is the argument after it.
  bool usesNext = false;
  /// Said where the option was given by its former name; else empty.
  std::string warning;
};

/// Finds the option that `arg`, `--name` or `--name=value` with one dash or
/// two, is among `options`; `next` is the argument after it, or null.
Result<GivenOption> matchOption(const std::vector<OptionSyntax> &options,
                                const std::string &arg,
                                const std::string *next);

/// A line of help: `spelling` and `help` in two columns.
std::string helpLine(const std::string &spelling, std::string_view help);
std::string helpLine(const OptionSyntax &option);

/// Whole numbers from `min` to `max`, and positive finite ones.
Result<int64_t> parseInteger(const std::string &text, int64_t min, int64_t max);
Result<double> parsePositive(const std::string &text);

template <typename Target>
class OptionTable {
public:
  template <size_t Count>
  OptionTable(const OptionEntry<Target> (&table)[Count]) : entries(table) {
    for (const OptionEntry<Target> &entry : table)
      syntax.push_back(entry.syntax);
  }

  /// Sets what `args` say; `plain` is given those that are no options.
  Status parse(const std::vector<std::string> &args, Target &target,
               Status (*plain)(Target &, const std::string &)) const {
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i].size() < 2 || args[i][0] != '-') {
        if (Status status = plain(target, args[i]); !status)
          return status;
        continue;
      }
      const std::string *next = i + 1 < args.size() ? &args[i + 1] : nullptr;
      Result<GivenOption> given = matchOption(syntax, args[i], next);
      if (!given)
        return given.error();
      if (!given->warning.empty())
        std::fprintf(stderr, "warning: %s\n", given->warning.c_str());
      const OptionEntry<Target> &entry = entries[given->entry];
      if (Status status = entry.set(target, given->value); !status)
        return Error{"--" + std::string(entry.syntax.name) + ": " +
                     status.error().message};
      i += given->usesNext;
    }
    return Status::success();
  }

  std::string help() const {
    std::string text;
    for (const OptionSyntax &option : syntax)
      text += helpLine(option);
    return text;
  }

private:
  const OptionEntry<Target> *entries;
  std::vector<OptionSyntax> syntax;
};

} // namespace nm

#endif // NM_SUPPORT_OPTIONTABLE_H
