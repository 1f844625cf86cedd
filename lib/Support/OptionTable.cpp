//===- OptionTable.cpp - Command lines read from a table ------------------===//

#include "nm/Support/OptionTable.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>

using namespace nm;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static Error unknownOption(const std::vector<OptionSyntax> &options,
                           const std::string &arg) {
  std::string known;
  for (const OptionSyntax &option : options)
    known += (known.empty() ? "--" : ", --") + std::string(option.name);
  return Error{"unknown option '" + arg + "'; expected one of " + known};
}

Result<GivenOption> nm::matchOption(const std::vector<OptionSyntax> &options,
                                    const std::string &arg,
                                    const std::string *next) {
  size_t dashes = arg.compare(0, 2, "--") == 0 ? 2 : 1;
  size_t equals = arg.find('=');
  std::string name =
      arg == "-h"
          ? "help"
          : arg.substr(dashes, equals == std::string::npos ? std::string::npos
                                                           : equals - dashes);
  GivenOption given;
  auto isFormerName = [&](const OptionSyntax &option) {
    return option.formerName && name == option.formerName;
  };
  while (given.entry < options.size() && name != options[given.entry].name &&
         !isFormerName(options[given.entry]))
    ++given.entry;
  if (given.entry == options.size())
    return unknownOption(options, arg);
  const OptionSyntax &option = options[given.entry];
  if (isFormerName(option))
    given.warning = "--" + name + " is now --" + option.name +
                    "; the next version takes the new name alone";
  if (equals != std::string::npos) {
    given.value = arg.substr(equals + 1);
    if (option.takes == Takes::Nothing)
      return Error{"expected no value for --" + name + ", but got '" +
                   given.value + "'"};
  } else if (option.takes == Takes::Value) {
    if (!next)
      return Error{"expected --" + name + "=" + option.valueName};
    given.value = *next;
    given.usesNext = true;
  }
  return given;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Result<int64_t> nm::parseInteger(const std::string &text, int64_t min,
                                 int64_t max) {
  char *end = nullptr;
  errno = 0;
  int64_t parsed = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || parsed < min || parsed > max)
    return Error{"expected a whole number from " + std::to_string(min) +
                 " to " + std::to_string(max) + ", but got '" + text + "'"};
  return parsed;
}

Result<double> nm::parsePositive(const std::string &text) {
  char *end = nullptr;
  double parsed = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(parsed) || parsed <= 0)
    return Error{"expected a positive number, but got '" + text + "'"};
  return parsed;
}

//===----------------------------------------------------------------------===//
// Help
//===----------------------------------------------------------------------===//

std::string nm::helpLine(const std::string &spelling, std::string_view help) {
  constexpr size_t kHelpColumn = 26;
  std::string indent(kHelpColumn, ' ');
  std::string text = "  " + spelling;
  text += text.size() + 1 < kHelpColumn
              ? std::string(kHelpColumn - text.size(), ' ')
              : "\n" + indent;
  for (char c : help)
    text += c == '\n' ? "\n" + indent : std::string(1, c);
  return text + "\n";
}

std::string nm::helpLine(const OptionSyntax &option) {
  std::string spelling = "--" + std::string(option.name);
  if (option.takes == Takes::Value)
    spelling += "=" + std::string(option.valueName);
  else if (option.takes == Takes::OptionalValue)
    spelling += "[=" + std::string(option.valueName) + "]";
  return helpLine(spelling, option.help);
}
