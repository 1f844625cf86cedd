//===- Target.cpp - What code is compiled for -----------------------------===//

#include "nm/Schedule/Target.h"

#include "nm/Schedule/GpuChip.h"
#include "nm/Support/Counted.h"

#include <algorithm>
#include <cstddef>

using namespace nm;

namespace {
struct KindInfo {
  std::string_view name;
  Target::Kind kind;
  size_t maxChips;
};
} // namespace

// In the order of the enumerators.
static constexpr KindInfo kKinds[] = {
    {"cpu", Target::Kind::Cpu, 0},
    {"cuda", Target::Kind::Cuda, 16},
    {"sim", Target::Kind::Sim, 1},
};

static constexpr std::string_view kArchitectures[] = {"x86_64", "aarch64",
                                                      "riscv64"};

static Error unknownTarget(std::string_view text) {
  return Error{
      "unknown target '" + std::string(text) +
      "'; expected cpu[:ARCH], cuda[:sm_XX[,sm_YY...]] or sim[:sm_XX]"};
}

static Status setArchitecture(std::string_view name, Target &target) {
  std::string known;
  for (std::string_view architecture : kArchitectures) {
    if (architecture == name) {
      target.architecture = name;
      return Status::success();
    }
    known += (known.empty() ? "" : ", ") + std::string(architecture);
  }
  return Error{"expected a processor of " + known + ", but got '" +
               std::string(name) + "'"};
}

/// Adds the chips of `text`, which are separated by commas.
static Status addChips(std::string_view text, Target &target) {
  while (true) {
    size_t comma = text.find(',');
    std::string chip(text.substr(0, comma));
    if (Result<GpuChip> known = GpuChip::get(chip); !known)
      return known.error();
    if (std::find(target.chips.begin(), target.chips.end(), chip) !=
        target.chips.end())
      return Error{"expected each chip once, but got '" + chip + "' again"};
    target.chips.push_back(std::move(chip));
    if (comma == std::string_view::npos)
      return Status::success();
    text.remove_prefix(comma + 1);
  }
}

Result<Target> Target::parse(std::string_view text) {
  size_t colon = text.find(':');
  const KindInfo *found = std::find_if(
      std::begin(kKinds), std::end(kKinds),
      [&](const KindInfo &kind) { return kind.name == text.substr(0, colon); });
  if (found == std::end(kKinds))
    return unknownTarget(text);
  Target target;
  target.kind = found->kind;
  if (colon == std::string_view::npos)
    return target;
  std::string place = "target '" + std::string(text) + "': ";
  std::string_view rest = text.substr(colon + 1);
  bool isCpu = target.kind == Target::Kind::Cpu;
  if (Status status =
          isCpu ? setArchitecture(rest, target) : addChips(rest, target);
      !status)
    return Error{place + status.error().message};
  if (target.chips.size() > found->maxChips)
    return Error{place + "expected at most " +
                 counted(found->maxChips, "chip") + ", but got " +
                 std::to_string(target.chips.size())};
  return target;
}

std::string Target::kindName() const {
  return std::string(kKinds[size_t(kind)].name);
}

std::string Target::str() const {
  std::string text = kindName();
  if (!architecture.empty())
    text += ":" + architecture;
  for (const std::string &chip : chips)
    text += (&chip == &chips.front() ? ":" : ",") + chip;
  return text;
}
