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
static constexpr const char *kListHead = "nm-bench kernels 7";
/// The last line: the CRC-32 of those before it.
static constexpr const char *kSumHead = "crc32\t";

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

/// `bench` without what makes a schedule of it.
static std::string productText(BenchCase bench) {
  bench.schedule.clear();
  return bench.str();
}

static std::string fileName(const BenchCase &bench) {
  const Pattern &pattern = bench.pattern;
  char digits[16];
  std::snprintf(digits, sizeof digits, "%08x", hash(bench.str()));
  return bench.shape.str() + "_" + std::to_string(pattern.n) + "of" +
         std::to_string(pattern.m) + "_" + granularityName(pattern) + "_" +
         std::string(elementName(bench.type)) + "_" + digits + ".so";
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
  if (parts.size() != 5)
    return Error{"expected FILE, PRODUCT, SECONDS, SCHEDULE and STEP between "
                 "tabs, but got '" +
                 line + "'"};
  Result<BenchCase> bench = BenchCase::parse(parts[1]);
  if (!bench)
    return bench.error();
  bench->schedule = parts[3];
  bench->step = parts[4];
  add(*bench, std::strtod(parts[2].c_str(), nullptr));
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
    list << fileName(bench) << '\t' << productText(bench) << '\t'
         << seconds.at(bench.str()) << '\t' << bench.schedule << '\t'
         << bench.step << '\n';
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
