//===- Candidates.cpp - Schedules to be measured --------------------------===//

#include "Candidates.h"

#include <algorithm>
#include <charconv>
#include <iterator>

using namespace nm;

static constexpr std::string_view kSameLayout = "propagate-layouts=false";
static constexpr std::string_view kNotDense = "dense-fallback=false";

/// The option behind a schedule that keeps a product as it is.
static std::string_view optionOf(bool onCpu) {
  return onCpu ? kNotDense : kSameLayout;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

static std::string trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string_view::npos
             ? ""
             : std::string(text.substr(begin, end - begin + 1));
}

/// The parts of `text` between commas that are in no brackets.
static std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    depth += c == '<' || c == '[';
    depth -= c == '>' || c == ']';
    if ((c != ',' || depth > 0) && i < text.size())
      continue;
    parts.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return parts;
}

ScheduleText ScheduleText::parse(const std::string &text) {
  constexpr std::string_view kDialect = "#nm.";
  std::string_view rest = text;
  if (rest.substr(0, kDialect.size()) == kDialect)
    rest.remove_prefix(kDialect.size());
  ScheduleText parsed;
  size_t open = rest.find('<');
  parsed.strategy = trimmed(rest.substr(0, open));
  if (open == std::string_view::npos || rest.back() != '>')
    return parsed;
  for (const std::string &field :
       split(rest.substr(open + 1, rest.size() - open - 2))) {
    size_t equals = field.find('=');
    if (equals != std::string::npos)
      parsed.fields.emplace_back(trimmed(field.substr(0, equals)),
                                 trimmed(field.substr(equals + 1)));
  }
  return parsed;
}

std::string ScheduleText::str() const {
  std::string text;
  for (const auto &[name, value] : fields)
    text += (text.empty() ? "" : ", ") + name + " = " + value;
  return text.empty() ? strategy : strategy + "<" + text + ">";
}

void ScheduleText::set(const std::string &name, const std::string &value) {
  for (auto &field : fields)
    if (field.first == name) {
      field.second = value;
      return;
    }
  fields.emplace_back(name, value);
}

bool ScheduleText::has(const std::string &name) const {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const auto &field) { return field.first == name; });
}

/// `[64, 32]` or `4`, as numbers; none where it has other words.
static std::vector<int64_t> numbersOf(const std::string &value) {
  std::string_view text = value;
  if (!text.empty() && text.front() == '[' && text.back() == ']')
    text = text.substr(1, text.size() - 2);
  std::vector<int64_t> numbers;
  for (const std::string &part : split(text)) {
    int64_t number = 0;
    auto [end, code] =
        std::from_chars(part.data(), part.data() + part.size(), number);
    if (code != std::errc() || end != part.data() + part.size())
      return {};
    numbers.push_back(number);
  }
  return numbers;
}

static std::string textOf(const std::vector<int64_t> &numbers, bool isList) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return isList ? "[" + text + "]" : text;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

BenchCase nm::makeCandidate(const BenchCase &product,
                            const std::string &schedule,
                            const std::string &step, bool onCpu) {
  BenchCase candidate = product;
  candidate.schedule = schedule;
  candidate.schedule += " ";
  candidate.schedule += optionOf(onCpu);
  candidate.step = step;
  return candidate;
}

bool nm::isAsItComes(const BenchCase &candidate, bool onCpu) {
  return candidate.schedule.find(optionOf(onCpu)) != std::string::npos;
}

bool nm::isModelsChoice(const std::string &options) {
  return options.empty() || options.front() == ' ';
}

std::vector<BenchCase> nm::firstCandidates(const BenchCase &product,
                                           bool onCpu) {
  static constexpr const char *kOnGpu[] = {
      "mma_sync", "mma_sp", "mma_bitmap",   "wgmma",
      "wgmma_sp", "simt",   "wgmma_select", "gemv"};
  static constexpr const char *kOnCpu[] = {"vector", "amx"};
  BenchCase model = product;
  model.schedule.clear();
  model.step = "model";
  std::vector<BenchCase> cases{model};
  cases.push_back(makeCandidate(product, "", "model, as it comes", onCpu));
  // The model may choose another layout of A, but no dense weights.
  if (!onCpu) {
    model.schedule = " " + std::string(kNotDense);
    model.step = "model, not dense";
    cases.push_back(model);
  }
  auto add = [&](const auto &names) {
    for (const char *name : names)
      cases.push_back(makeCandidate(product, name, name, onCpu));
  };
  if (onCpu)
    add(kOnCpu);
  else
    add(kOnGpu);
  return cases;
}

namespace {
/// A number of a schedule: a field, and the place in its list.
struct Knob {
  const char *name;
  size_t at;
};
} // namespace

/// The numbers in which neighbours of a schedule differ from it. The numbers
/// that matter most come first: a budget may end before the others.
static std::vector<Knob> knobsOf(bool onCpu) {
  if (onCpu)
    return {
        {"block", 1}, {"block", 0}, {"thread", 1}, {"thread", 0}, {"block", 2}};
  return {{"block", 1},  {"block", 2},     {"stages", 0},    {"split_k", 0},
          {"block", 0},  {"slice_k", 0},   {"producers", 0}, {"warp", 1},
          {"blocks", 0}, {"cluster_k", 0}, {"group_m", 0},   {"warpgroup", 1}};
}

/// The schedule that each change of `base` is added to. On a GPU it has no
/// fields, and the model chooses the others. On a CPU it has all tiles of
/// `base`, for the model would choose others.
static ScheduleText beginOf(const ScheduleText &base, bool onCpu) {
  ScheduleText text{base.strategy, {}};
  if (onCpu)
    for (const auto &kept : base.fields)
      if (kept.first != "packing")
        text.set(kept.first, kept.second);
  return text;
}

/// The values that take the place of element `at` of `value` in turn.
static std::vector<std::string>
variations(const std::string &name, const std::string &value, size_t at) {
  std::vector<int64_t> numbers = numbersOf(value);
  if (at >= numbers.size())
    return {};
  int64_t now = numbers[at];
  // Buffers are few, and one more is another schedule.
  std::vector<int64_t> others = name == "stages"
                                    ? std::vector<int64_t>{now + 1, now - 1}
                                    : std::vector<int64_t>{now * 2, now / 2};
  std::vector<std::string> texts;
  for (int64_t other : others) {
    if (other < 1 || other == now)
      continue;
    numbers[at] = other;
    texts.push_back(textOf(numbers, value.front() == '['));
  }
  return texts;
}

std::vector<BenchCase> nm::neighbours(const BenchCase &product,
                                      const std::string &schedule, bool onCpu) {
  ScheduleText base = ScheduleText::parse(schedule);
  std::vector<BenchCase> cases;
  for (const Knob &knob : knobsOf(onCpu))
    for (const auto &[name, now] : base.fields) {
      if (name != knob.name)
        continue;
      for (const std::string &value : variations(name, now, knob.at)) {
        ScheduleText text = beginOf(base, onCpu);
        text.set(name, value);
        cases.push_back(
            makeCandidate(product, text.str(), name + " = " + value, onCpu));
      }
    }
  return cases;
}

std::string nm::drawSchedule(const std::string &schedule, bool onCpu,
                             std::mt19937_64 &random) {
  constexpr size_t kMostSteps = 5;
  ScheduleText walk = ScheduleText::parse(schedule);
  ScheduleText text = beginOf(walk, onCpu);
  std::vector<Knob> knobs = knobsOf(onCpu);
  for (size_t steps = 1 + random() % kMostSteps; steps > 0; --steps) {
    const Knob &knob = knobs[random() % knobs.size()];
    for (auto &[name, now] : walk.fields) {
      if (name != knob.name)
        continue;
      std::vector<std::string> values = variations(name, now, knob.at);
      if (values.empty())
        continue;
      now = values[random() % values.size()];
      text.set(name, now);
    }
  }
  return text.fields.empty() ? "" : text.str();
}

/// The fields in which `other` differs from `base`.
static std::vector<std::pair<std::string, std::string>>
changesOf(const ScheduleText &base, const ScheduleText &other) {
  std::vector<std::pair<std::string, std::string>> changes;
  for (const auto &field : other.fields)
    if (std::find(base.fields.begin(), base.fields.end(), field) ==
        base.fields.end())
      changes.push_back(field);
  return changes;
}

std::string nm::combine(const std::string &schedule, const std::string &left,
                        const std::string &right) {
  ScheduleText base = ScheduleText::parse(schedule),
               one = ScheduleText::parse(left),
               two = ScheduleText::parse(right);
  if (one.strategy != base.strategy || two.strategy != base.strategy)
    return "";
  auto changes = changesOf(base, one), more = changesOf(base, two);
  for (const auto &change : more)
    for (const auto &known : changes)
      if (known.first == change.first)
        return "";
  changes.insert(changes.end(), more.begin(), more.end());
  changes.erase(std::remove_if(
                    changes.begin(), changes.end(),
                    [](const auto &field) { return field.first == "packing"; }),
                changes.end());
  return changes.empty() ? "" : ScheduleText{base.strategy, changes}.str();
}
