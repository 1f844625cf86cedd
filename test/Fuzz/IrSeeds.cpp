//===- IrSeeds.cpp - The IR of the lit tests, and what it is run by -------===//

#include "IrSeeds.h"

#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"

#include <filesystem>
#include <optional>

using namespace llvm;
namespace fs = std::filesystem;

/// Longer ones take long, and reach nothing else.
static constexpr size_t kLongestPart = 20000;

static std::vector<std::string> filesIn(const fs::path &folder,
                                        StringRef extension) {
  std::vector<std::string> paths;
  for (const auto &entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == extension.str())
      paths.push_back(entry.path());
  llvm::sort(paths);
  return paths;
}

static std::string readFile(const std::string &path) {
  auto buffer = MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

//===----------------------------------------------------------------------===//
// RUN lines
//===----------------------------------------------------------------------===//

/// The words of a shell's line up to the first pipe or redirection.
static std::vector<std::string> splitWords(StringRef line) {
  std::vector<std::string> words;
  std::string word;
  bool isWord = false;
  char quote = 0;
  for (char c : line) {
    if (!quote && StringRef("|&>").contains(c)) {
      // 2> is a redirection, too.
      if (word != "2" && isWord)
        words.push_back(word);
      return words;
    }
    if (quote ? c == quote : c == '\'' || c == '"') {
      quote = quote ? 0 : c;
      isWord = true;
    } else if (!quote && isSpace(c)) {
      if (isWord)
        words.push_back(word);
      word.clear();
      isWord = false;
    } else {
      word += c;
      isWord = true;
    }
  }
  if (isWord)
    words.push_back(word);
  return words;
}

static StringRef nameOf(StringRef flag) {
  return flag.ltrim('-').split('=').first;
}

static bool runsPasses(StringRef flag) {
  if (!flag.starts_with("-"))
    return false;
  StringRef name = nameOf(flag);
  return name == "pass-pipeline" || mlir::PassInfo::lookup(name) ||
         mlir::PassPipelineInfo::lookup(name);
}

/// The flags that run passes of `nm-opt %s FLAGS`; none for another command.
static std::optional<PassFlags> flagsOfRun(StringRef line) {
  std::vector<std::string> words = splitWords(line);
  ArrayRef<std::string> command(words);
  if (!command.empty() && command.front() == "not")
    command = command.drop_front();
  if (command.size() < 2 || command[0] != "nm-opt" || command[1] != "%s")
    return {};
  PassFlags flags;
  for (const std::string &flag : command.drop_front(2)) {
    if (StringRef(flag).contains('%'))
      return {};
    if (runsPasses(flag))
      flags.push_back(flag);
  }
  return flags;
}

static std::vector<PassFlags> runsOf(std::string text) {
  static constexpr StringRef continued = "\\\n// RUN:";
  for (size_t at; (at = text.find(continued)) != std::string::npos;)
    text.replace(at, continued.size(), "");
  std::vector<PassFlags> runs;
  for (StringRef line : split(text, '\n')) {
    auto [before, command] = line.split("RUN:");
    if (std::optional<PassFlags> flags = flagsOfRun(command))
      runs.push_back(std::move(*flags));
  }
  return runs;
}

std::string pipelineOf(const PassFlags &flags) {
  std::vector<std::string> passes;
  for (StringRef flag : flags) {
    auto [name, options] = flag.ltrim('-').split('=');
    if (name == "pass-pipeline") {
      options.consume_front("builtin.module(");
      options.consume_back(")");
      passes.push_back(options.str());
    } else {
      passes.push_back(options.empty() ? name.str()
                                       : (name + "{" + options + "}").str());
    }
  }
  return join(passes, ",");
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

static std::string withoutComments(StringRef text) {
  std::string kept;
  for (StringRef line : split(text, '\n'))
    if (!line.ltrim().starts_with("//") && !line.trim().empty())
      kept += (line + "\n").str();
  return kept;
}

static std::optional<IrSeed> readTest(const std::string &path) {
  std::string text = readFile(path);
  IrSeed seed{path, runsOf(text), {}};
  for (StringRef rest = text; !rest.empty();) {
    auto [part, behind] = rest.split("// -----");
    rest = behind;
    std::string kept = withoutComments(part);
    if (kept.size() > kLongestPart)
      return {};
    if (!kept.empty())
      seed.parts.push_back(std::move(kept));
  }
  return seed.parts.empty() ? std::nullopt : std::optional(std::move(seed));
}

/// The names in `def … : Pass<"NAME"` of the files of TableGen.
static std::vector<std::string> passesIn(const fs::path &folder) {
  Regex definition(": *Pass<\"([a-z0-9-]+)\"");
  std::vector<std::string> names;
  for (const std::string &path : filesIn(folder, ".td")) {
    std::string text = readFile(path);
    SmallVector<StringRef> found;
    for (StringRef rest = text; definition.match(rest, &found);
         rest = rest.drop_front(found[0].end() - rest.begin()))
      names.push_back(found[1].str());
  }
  llvm::sort(names);
  return names;
}

/// Whether a flag runs the pass, by itself or in a pipeline.
static bool hasPass(StringRef flag, StringRef pass) {
  auto isPartOfName = [](char c) { return isAlnum(c) || c == '-'; };
  if (nameOf(flag) == pass)
    return true;
  if (nameOf(flag) != "pass-pipeline")
    return false;
  for (size_t at = 0; (at = flag.find(pass, at)) != StringRef::npos; ++at)
    if (!isPartOfName(flag[at - 1]) &&
        !isPartOfName(flag.drop_front(at + pass.size()).front()))
      return true;
  return false;
}

static PassSeeds seedsOf(const std::string &pass, ArrayRef<IrSeed> tests) {
  PassSeeds seeds{pass, {}};
  for (const IrSeed &test : tests) {
    IrSeed own{test.path, {}, test.parts};
    for (const PassFlags &run : test.runs)
      if (any_of(run, [&](StringRef flag) { return hasPass(flag, pass); }))
        own.runs.push_back(run);
    if (!own.runs.empty())
      seeds.tests.push_back(std::move(own));
  }
  return seeds;
}

IrSeeds IrSeeds::read(const std::string &source) {
  IrSeeds seeds;
  for (const std::string &path : filesIn(fs::path(source) / "test", ".mlir"))
    if (std::optional<IrSeed> test = readTest(path))
      seeds.tests.push_back(std::move(*test));
  for (const std::string &pass : passesIn(fs::path(source) / "include" / "nm"))
    seeds.passes.push_back(seedsOf(pass, seeds.tests));
  return seeds;
}
