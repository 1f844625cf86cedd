//===- CpuFeatures.cpp - A CPU's features as the cost model sees them -----===//

#include "nm/Dialect/NM/Transforms/CpuFeatures.h"

#include "nm/Support/ProcessorTiles.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Config/Targets.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/Threading.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;
using ::nm::CpuTarget;
using ::nm::Result;

/// Adds the names that LLVM has for features of processors of `triple`, if it
/// has such processors.
static void addNames(const Triple &triple, StringSet<> &names) {
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  std::unique_ptr<MCSubtargetInfo> info(
      target ? target->createMCSubtargetInfo(triple, "", "") : nullptr);
  if (info)
    for (const SubtargetFeatureKV &feature : info->getAllProcessorFeatures())
      names.insert(feature.Key);
}

/// Whether LLVM has `name` for a feature of this machine's processors, or of
/// those of another target.
static bool isOfProcessor(StringRef name) {
  static const StringSet<> names = [] {
    StringSet<> all;
    InitializeNativeTarget();
    addNames(Triple(sys::getProcessTriple()), all);
#if LLVM_HAS_AARCH64_TARGET
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64TargetMC();
    addNames(Triple("aarch64-unknown-linux-gnu"), all);
#endif
#if LLVM_HAS_RISCV_TARGET
    LLVMInitializeRISCVTargetInfo();
    LLVMInitializeRISCVTargetMC();
    addNames(Triple("riscv64-unknown-linux-gnu"), all);
#endif
    return all;
  }();
  return names.contains(name);
}

/// Whether `name` is one of LLVM's, or one that schedules ask for on any
/// machine.
static bool isKnown(StringRef name) {
  static constexpr StringLiteral kAsked[] = {
      "avx2",       "fma",        "avx512f",    "avx512bw",    "avx512bf16",
      "avx512fp16", "avx512vnni", "avx512vbmi", "avx512vbmi2", "avxvnni",
      "amx-tile",   "amx-bf16",   "amx-fp16",   "amx-int8",    "sse4a"};
  return isOfProcessor(name) || is_contained(kAsked, name);
}

static Result<StringMap<bool>> parseFeatures(StringRef text) {
  StringMap<bool> features;
  SmallVector<StringRef> names;
  text.split(names, ',');
  for (StringRef name : names) {
    name = name.trim();
    bool enabled = !name.consume_front("-");
    if (enabled)
      name.consume_front("+");
    if (name.empty() || name.find_first_of(" \t+") != StringRef::npos)
      return ::nm::Error{"expected features separated by commas, such as "
                         "+avx2,+fma, but got '" +
                         text.str() + "'"};
    if (!isKnown(name))
      return ::nm::Error{"expected processor features that LLVM knows, but got "
                         "'" +
                         name.str() + "'"};
    features[name] = enabled;
  }
  return features;
}

/// What the units for small types do beside f32. A tile unit does 512
/// multiply-adds of 16 bits in a cycle, where one AVX-512 unit does 16 of f32;
/// half of that is what libraries reach.
static void setDenseRates(const StringMap<bool> &features, CpuTarget &target) {
  constexpr double kTiles16 = 16, kTiles8 = 32;
  auto has = [&](StringRef name) { return features.lookup(name); };
  // Libraries compute f32 by vectors of 256 bits on AMD's processors, and f16
  // without a unit for it one element after the other.
  bool isWide = target.multipliesTwoWide();
  bool isWideIntel = isWide && !has("sse4a");
  target.f32Rate = isWide && has("sse4a") ? 0.45 : 1;
  target.bf16Rate = has("amx-bf16")     ? kTiles16
                    : has("bf16")       ? 4
                    : isWideIntel       ? 0.55
                    : has("avx512bf16") ? 2
                                        : 1;
  target.f16Rate = has("amx-fp16")                        ? kTiles16
                   : isWideIntel                          ? 0.7
                   : has("avx512fp16") || has("fullfp16") ? 2
                   : isWide                               ? 0.13
                                                          : 0.25;
  bool dots = has("avx512vnni") || has("avxvnni") || has("dotprod");
  // A Sapphire Rapids permutes on one port, which multiplies, too.
  target.vectorCycles = isWideIntel ? 1.6 : 1;
  target.i8Rate = has("amx-int8") ? kTiles8 : has("i8mm") ? 8 : dots ? 4 : 1;
}

/// The host's features, with AMX where this process may use it, too: what it
/// makes may run in it.
static StringMap<bool> getHostFeatures() {
  StringMap<bool> features = sys::getHostCPUFeatures();
  if (!::nm::takeProcessorTiles())
    features["amx-tile"] = false;
  return features;
}

Result<CpuTarget> mlir::nm::getCpuTarget(StringRef text, int64_t threads) {
  if (threads < 0)
    return ::nm::Error{"expected a number of threads of at least 0, but got " +
                       std::to_string(threads)};
  StringMap<bool> features = getHostFeatures();
  if (!text.empty()) {
    Result<StringMap<bool>> parsed = parseFeatures(text);
    if (!parsed)
      return parsed.error();
    features = *parsed;
  }
  CpuTarget target;
  target.threads =
      threads > 0 ? threads : hardware_concurrency().compute_thread_count();
  // Zen 4 has no AVX-VNNI, and multiplies half as wide.
  if (features.lookup("avx512f") && features.lookup("avxvnni"))
    target.fmaBitsPerCycle = 1024;
  setDenseRates(features, target);
  if (features.lookup("avx512f")) {
    // A and C pass through vectors of 512 bits on their way to and from tiles.
    bool tiles = features.lookup("avx512bw") && features.lookup("amx-tile");
    target.tiles = tiles && features.lookup("amx-bf16");
    target.expands = target.tiles && features.lookup("avx512vbmi2");
    target.byteTiles = tiles && features.lookup("amx-int8");
    target.dots = features.lookup("avx512bw") && features.lookup("avx512vnni");
    // Intel's begin one of VDPBF16PS where they multiply two vectors of f32.
    target.bf16Pairs = features.lookup("avx512bw") &&
                       features.lookup("avx512bf16") &&
                       features.lookup("sse4a");
    // Intel's shuffle on a port that multiplies, too.
    target.shufflesWeights = features.lookup("sse4a");
    target.choosesBytes = features.lookup("avx512bw") &&
                          features.lookup("avx512vbmi") &&
                          features.lookup("sse4a");
    target.expandsLanes = true;
    target.expandsShort =
        features.lookup("avx512bw") && features.lookup("avx512vbmi2");
    return target;
  }
  target.vectorBits = 256;
  target.registers = 16;
  if (features.lookup("avx2") && features.lookup("fma"))
    return target;
  // SSE, NEON and what else has vectors of four floats; it looks tables up in
  // memory.
  target.vectorBits = 128;
  if (features.lookup("neon") || features.lookup("v"))
    target.registers = 32;
  target.permutes = false;
  target.fmaBitsPerCycle = 256;
  if (features.lookup("neon")) {
    target.i8Matrices = features.lookup("i8mm");
    target.bf16Matrices = features.lookup("bf16");
    target.dots = target.i8Matrices || features.lookup("dotprod");
  }
  return target;
}
