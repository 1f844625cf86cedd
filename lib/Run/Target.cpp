//===- Target.cpp - The names of targets ----------------------------------===//

#include "Target.h"

#include <algorithm>
#include <cctype>
#include <string_view>

using namespace nm;

namespace {
struct Target {
  std::string_view kind;
  bool takesChip;
  bool isBuilt;
};
} // namespace

static constexpr Target kTargets[] = {
    {"cpu", false, true}, {"cuda", true, true}, {"sim", true, false}};

static const Target *findTarget(std::string_view kind) {
  for (const Target &target : kTargets)
    if (target.kind == kind)
      return &target;
  return nullptr;
}

std::string nm::targetKind(const std::string &target) {
  return target.substr(0, target.find(':'));
}

/// sm_, digits, and perhaps a letter as in sm_90a.
static bool isChip(std::string_view chip) {
  if (chip.substr(0, 3) != "sm_")
    return false;
  chip.remove_prefix(3);
  if (!chip.empty() && (chip.back() == 'a' || chip.back() == 'f'))
    chip.remove_suffix(1);
  return !chip.empty() && std::all_of(chip.begin(), chip.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c));
  });
}

Status nm::checkTargetName(const std::string &target) {
  const Target *known = findTarget(targetKind(target));
  size_t colon = target.find(':');
  bool chipFits = colon == std::string::npos ||
                  (known && known->takesChip &&
                   isChip(std::string_view(target).substr(colon + 1)));
  if (known && chipFits)
    return Status::success();
  return Error{"unknown target '" + target +
               "'; expected cpu, cuda[:sm_XX] or sim[:sm_XX]"};
}

Status nm::checkTargetBuilt(const std::string &target) {
  std::string built;
  for (const Target &known : kTargets) {
    if (known.isBuilt && known.kind == targetKind(target))
      return Status::success();
    if (known.isBuilt)
      built += (built.empty() ? "" : ", ") + std::string(known.kind);
  }
  return Error{"this build has no " + targetKind(target) +
               " target; it has: " + built};
}
