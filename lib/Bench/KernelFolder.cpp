//===- KernelFolder.cpp - Cases compiled beforehand -----------------------===//

#include "KernelFolder.h"

#include "nm/Support/Checksum.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>

using namespace nm;

static constexpr const char *kListName = "kernels.tsv";
static constexpr const char *kListHead = "nm-bench kernels 6";
/// The last line: the CRC-32 of those before it.
static constexpr const char *kSumHead = "crc32\t";
/// The layouts of A.
static constexpr const char *kMMajor = "m-major", *kRowMajor = "row-major";
/// The type of C where none was chosen.
static constexpr std::string_view kUsualResult = "usual";
/// What sums are: fast accumulation, or not.
static constexpr const char *kFastAccum = "fast-accum", *kUsualSums = "usual";

static std::string listPath(const std::string &folder) {
  return folder + "/" + kListName;
}

/// The parts of `line` between tabs.
static std::vector<std::string> columns(const std::string &line) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = line.find('\t', begin)) != std::string::npos;
       begin = end + 1)
    parts.push_back(line.substr(begin, end - begin));
  parts.push_back(line.substr(begin));
  return parts;
}

/// FNV-1a: the same in every build, which std::hash is not.
static uint32_t hash(const std::string &text) {
  uint32_t state = 2166136261u;
  for (unsigned char c : text)
    state = (state ^ c) * 16777619u;
  return state;
}

static std::string fileName(const BenchCase &bench) {
  const Pattern &pattern = bench.pattern;
  std::string name = bench.shape.str() + "_" + std::to_string(pattern.n) +
                     "of" + std::to_string(pattern.m) + "_" +
                     granularityName(pattern) + "_" +
                     std::string(elementName(bench.type));
  if (bench.isMMajor)
    name += "_m-major";
  if (bench.givenResult)
    name += "_to_" + std::string(elementName(*bench.givenResult));
  if (bench.hasFastAccum)
    name += "_fast-accum";
  if (!bench.schedule.empty()) {
    char digits[16];
    std::snprintf(digits, sizeof digits, "_%08x", hash(bench.schedule));
    name += digits;
  }
  return name + ".so";
}

Result<KernelFolder> KernelFolder::create(const std::string &path,
                                          const std::string &target) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return Error{path + ": cannot be made: " + error.message()};
  return KernelFolder(path, target);
}

Status KernelFolder::readCase(const std::string &line) {
  std::vector<std::string> parts = columns(line);
  Error error{"expected FILE, SHAPE, PATTERN, TYPE, SECONDS, SCHEDULE, STEP, "
              "LAYOUT, RESULT and SUMS between tabs, but got '" +
              line + "'"};
  if (parts.size() != 10 || (parts[7] != kMMajor && parts[7] != kRowMajor) ||
      (parts[9] != kFastAccum && parts[9] != kUsualSums))
    return error;
  Result<ProductShape> shape = ProductShape::parse(parts[1]);
  Result<Pattern> pattern = Pattern::parse(parts[2]);
  Result<ElementType> type = parseBenchType(parts[3]);
  if (!shape || !pattern || !type)
    return error;
  BenchCase bench{*shape,   *pattern, *type,
                  parts[5], parts[6], parts[7] == kMMajor};
  if (parts[8] != kUsualResult) {
    Result<ElementType> result = parseBenchType(parts[8]);
    if (!result || !bench.canResultIn(*result))
      return error;
    bench.givenResult = *result;
  }
  bench.hasFastAccum = parts[9] == kFastAccum;
  if (bench.hasFastAccum && !isFloat8(bench.type))
    return error;
  add(bench, std::strtod(parts[4].c_str(), nullptr));
  return Status::success();
}

static std::string sumLine(std::string_view text) {
  Crc32 sum;
  sum.add(text);
  return kSumHead + formatChecksum(sum.value()) + "\n";
}

/// Takes the last line away, if it is as it should be.
static bool takeSum(std::string &text) {
  size_t size = sumLine("").size();
  if (text.size() < size)
    return false;
  std::string last = text.substr(text.size() - size);
  text.resize(text.size() - size);
  return last == sumLine(text);
}

Result<KernelFolder> KernelFolder::open(const std::string &path) {
  std::ifstream file(listPath(path), std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file || text.empty())
    return Error{listPath(path) +
                 ": cannot be read; nm-bench --compile-only --kernels=" + path +
                 " makes it"};
  std::vector<std::string> head = columns(text.substr(0, text.find('\n')));
  if (head.size() != 2 || head[0] != kListHead)
    return Error{listPath(path) + ":1: expected '" + kListHead +
                 "', a tab and a target, but got '" +
                 text.substr(0, text.find('\n')) + "'"};
  if (!takeSum(text))
    return Error{listPath(path) + ": expected a last line with the checksum of "
                                  "those before it: the list is "
                                  "truncated or damaged"};
  KernelFolder folder(path, head[1]);
  std::istringstream list(text);
  std::string line;
  std::getline(list, line);
  for (int number = 2; std::getline(list, line); ++number)
    if (Status status = folder.readCase(line); !status)
      return Error{listPath(path) + ":" + std::to_string(number) + ": " +
                   status.error().message};
  return folder;
}

std::string KernelFolder::file(const BenchCase &bench) const {
  return path + "/" + fileName(bench);
}

void KernelFolder::add(const BenchCase &bench, double spent) {
  if (seconds.emplace(bench.str(), spent).second)
    inOrder.push_back(bench);
}

Status KernelFolder::writeList() const {
  std::ostringstream list;
  list << kListHead << '\t' << compiledFor << '\n';
  for (const BenchCase &bench : inOrder)
    list << fileName(bench) << '\t' << bench.shape.str() << '\t'
         << bench.pattern.str() << '\t' << elementName(bench.type) << '\t'
         << seconds.at(bench.str()) << '\t' << bench.schedule << '\t'
         << bench.step << '\t' << (bench.isMMajor ? kMMajor : kRowMajor) << '\t'
         << (bench.givenResult ? elementName(*bench.givenResult) : kUsualResult)
         << '\t' << (bench.hasFastAccum ? kFastAccum : kUsualSums) << '\n';
  std::ofstream file(listPath(path), std::ios::binary);
  if (!(file << list.str() << sumLine(list.str())).flush())
    return Error{listPath(path) +
                 ": cannot be written: " + std::strerror(errno)};
  return Status::success();
}

Result<CompiledCase> KernelFolder::load(const BenchCase &bench) const {
  auto known = seconds.find(bench.str());
  if (known == seconds.end())
    return Error{path +
                 " has no module for it; nm-bench --compile-only "
                 "--kernels=" +
                 path + " makes those of its cases"};
  return loadCase(file(bench), known->second);
}
