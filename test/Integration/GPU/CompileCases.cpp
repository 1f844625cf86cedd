//===- CompileCases.cpp - Compiles the drawn cases ------------------------===//
//
// usage: NMGpuCompileCases FOLDER TARGET [COUNT [OPTIONS [PART PARTS]]]
//
// With PART, from 0 to PARTS - 1, only that part of the cases.
//
//===----------------------------------------------------------------------===//

#include "GpuCases.h"

#include "nm-c/Compiler.h"
#include "nm-c/Runtime.h"
#include "nm/Schedule/GpuChip.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace nm::test;

namespace {
struct Request {
  std::string folder, target;
  /// At least one of each kind.
  int64_t count = 1;
  std::string options;
  Part part;
  bool hasClusters = true;
  bool hasWgmma = false;
  /// Whether its tensor cores take 8-bit floats by mma.sp.
  bool hasSparseFloat8 = true;
};
} // namespace

/// What is known of the target's chip: that of the device, or the default one,
/// where it names none.
static nm::Result<nm::GpuChip> getChip(const std::string &target) {
  char device[16] = "";
  size_t colon = target.find(':');
  if (colon == std::string::npos)
    nmMessageFree(nmCudaGetDeviceChip(0, device));
  return nm::GpuChip::get(
      colon == std::string::npos ? device : target.c_str() + colon + 1);
}

/// Returns what the compiler said of a failure.
static std::string compile(const GpuGroup &group, const Request &request) {
  std::string stem = request.folder + "/" + group.name;
  std::ofstream(stem + ".mlir") << group.module();
  // Where the chip has not the instruction, the simulator is one that has it,
  // and for others the cost model chooses.
  auto asksFor = [&](const char *schedule) {
    return group.options.find(schedule) != std::string::npos;
  };
  std::string options = request.options, target = request.target;
  bool isSparseFloat8 =
      asksFor("schedule=mma_sp") && nm::isFloat8(group.cases.front().type);
  bool isRefused = !request.hasWgmma && asksFor("schedule=wgmma");
  if (isSparseFloat8 && !request.hasSparseFloat8) {
    bool isSimulated = target.rfind("sim", 0) == 0;
    isRefused = !isSimulated;
    target = isSimulated ? "sim:sm_120" : target;
  }
  if (!isRefused)
    options = group.options + " " +
              (request.hasClusters ? group.clusterOptions + " " : "") + options;
  char *diagnostics = nullptr;
  int failed =
      nmCompileFile((stem + ".mlir").c_str(), target.c_str(), options.c_str(),
                    (stem + ".so").c_str(), &diagnostics);
  std::string text = diagnostics ? diagnostics : "";
  nmFree(diagnostics);
  if (!failed)
    return "";
  return text.empty() ? "the compiler gave no reason" : text;
}

/// One case at a time, to say which of a group it is.
static int reportFailures(const GpuGroup &group, const Request &request) {
  int failures = 0;
  for (const ModelCase &product : group.cases) {
    GpuGroup alone{group.name + "-" + product.name(),
                   group.options,
                   group.clusterOptions,
                   {product}};
    std::string text = compile(alone, request);
    std::filesystem::remove(request.folder + "/" + alone.name + ".so");
    if (text.empty())
      continue;
    std::printf("%s does not compile with '%s': %s%s\n", product.name().c_str(),
                (group.options + " " + group.clusterOptions).c_str(),
                text.c_str(), product.function().c_str());
    ++failures;
  }
  return failures;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: %s FOLDER TARGET [COUNT [OPTIONS [PART PARTS]]]\n",
                 argv[0]);
    return 2;
  }
  Request request;
  request.folder = argv[1];
  request.target = argv[2];
  if (argc > 3)
    request.count = std::atoll(argv[3]);
  if (argc > 4)
    request.options = argv[4];
  if (argc > 6)
    request.part = {std::atoll(argv[5]), std::atoll(argv[6])};
  nm::Result<nm::GpuChip> chip = getChip(request.target);
  request.hasClusters = !chip || chip->hasClusters();
  request.hasWgmma = chip && chip->hasWgmma;
  request.hasSparseFloat8 = !chip || chip->multipliesSparseFloat8;
  std::filesystem::remove_all(request.folder);
  std::filesystem::create_directories(request.folder);
  std::ofstream(request.folder + "/cases.txt")
      << runSeed() << " " << request.count << " " << request.part.index << " "
      << request.part.count << "\n";
  int failures = 0;
  int64_t cases = 0, turn = 0;
  for (const GpuGroup &group : drawGpuGroups(request.count)) {
    if (!request.part.has(turn++))
      continue;
    cases += int64_t(group.cases.size());
    if (!compile(group, request).empty())
      failures += reportFailures(group, request);
  }
  std::printf("%lld of %lld cases do not compile for %s\n",
              static_cast<long long>(failures), static_cast<long long>(cases),
              request.target.c_str());
  return failures != 0;
}
