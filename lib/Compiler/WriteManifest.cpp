//===- WriteManifest.cpp - Writing what a module says of itself -----------===//

#include "WriteManifest.h"

#include "nm/GPU/Select/ProductProfile.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::nm;
using llvm::json::OStream;

/// The version that nm/Runtime/Manifest.h reads.
static constexpr int64_t kManifestVersion = 2, kVersionOfUpdates = 3;

static void writeTensor(OStream &json, const TensorInfo &tensor) {
  json.attribute("dtype", tensor.dtype);
  json.attributeArray("shape", [&] {
    for (int64_t size : tensor.shape)
      json.value(size);
  });
  if (!tensor.encoding.empty())
    json.attribute("encoding", tensor.encoding);
  if (tensor.alignment != 0)
    json.attribute("alignment", tensor.alignment);
  if (tensor.isUpdated)
    json.attribute("updated", true);
}

/// Runtimes that know no updates would pass a copy of the argument.
static int64_t getVersion(const ModuleRecord &module) {
  bool hasUpdates = llvm::any_of(module.functions, [](const auto &function) {
    return llvm::any_of(function.signature.args,
                        [](const TensorInfo &arg) { return arg.isUpdated; });
  });
  return hasUpdates ? kVersionOfUpdates : kManifestVersion;
}

static void writeDimRef(OStream &json, const DimRef &ref) {
  json.object([&] {
    json.attribute("arg", ref.arg);
    json.attribute("dim", ref.dim);
  });
}

static void writeDim(OStream &json, const DimSource &source) {
  if (const auto *size = std::get_if<int64_t>(&source))
    json.value(*size);
  else
    writeDimRef(json, std::get<DimRef>(source));
}

static void writeSignature(OStream &json, const Signature &signature,
                           StringRef symbol) {
  json.attribute("symbol", ("_mlir_ciface_" + symbol).str());
  json.attributeArray("args", [&] {
    for (const TensorInfo &arg : signature.args)
      json.object([&] { writeTensor(json, arg); });
  });
  json.attributeArray("results", [&] {
    for (size_t i = 0; i < signature.results.size(); ++i)
      json.object([&] {
        writeTensor(json, signature.results[i]);
        json.attributeArray("dims", [&] {
          for (const DimSource &dim : signature.resultDims[i])
            writeDim(json, dim);
        });
      });
  });
}

static void writeEqualDims(OStream &json, const Signature &signature) {
  if (signature.equalDims.empty())
    return;
  json.attributeArray("equal_dims", [&] {
    for (const std::vector<DimRef> &list : signature.equalDims)
      json.array([&] {
        for (const DimRef &ref : list)
          writeDimRef(json, ref);
      });
  });
}

static void writePack(OStream &json, StringRef symbol,
                      const std::vector<PackedWeight> &packed) {
  if (packed.empty())
    return;
  json.attributeObject("pack", [&] {
    json.attribute("symbol", ("_mlir_ciface_" + symbol + ".pack").str());
    json.attributeArray("weights", [&] {
      for (const PackedWeight &weight : packed)
        json.object([&] {
          json.attribute("arg", weight.arg);
          json.attributeObject("values",
                               [&] { writeTensor(json, weight.values); });
          json.attributeObject("indices",
                               [&] { writeTensor(json, weight.indices); });
          if (weight.lists)
            json.attributeObject("lists",
                                 [&] { writeTensor(json, *weight.lists); });
          if (!weight.layout.empty())
            json.attribute("layout", weight.layout);
        });
    });
  });
}

/// The arguments and results of `signature`, dense, and in f64 where they are
/// no integers.
static Signature widen(Signature signature) {
  for (std::vector<TensorInfo> *tensors : {&signature.args, &signature.results})
    for (TensorInfo &tensor : *tensors) {
      tensor.encoding.clear();
      tensor.alignment = 0;
      if (tensor.dtype[0] != 'i')
        tensor.dtype = "f64";
    }
  return signature;
}

template <typename T>
static void writeKnown(OStream &json, StringRef key,
                       const std::optional<T> &value) {
  if (value)
    json.attribute(key, *value);
}

static void writeKnown(OStream &json, StringRef key, StringRef value) {
  if (!value.empty())
    json.attribute(key, value);
}

static void writeProfile(OStream &json, const ::nm::KernelProfile &profile) {
  writeKnown(json, "registers", profile.registers);
  if (profile.registers)
    json.attribute("registers_from", profile.registersFrom);
  writeKnown(json, "occupancy", profile.occupancy);
  writeKnown(json, "intensity_registers", profile.ofRegisters);
  writeKnown(json, "intensity_shared", profile.ofShared);
  writeKnown(json, "intensity_l2", profile.ofL2);
  writeKnown(json, "intensity_memory", profile.ofMemory);
  writeKnown(json, "compute_to_loads", profile.computeToLoads);
  writeKnown(json, "bound", profile.bound);
}

static void writeAlternative(OStream &json, const AlternativeRecord &entry) {
  json.attribute("name", entry.name);
  writeKnown(json, "strategy", entry.strategy);
  writeKnown(json, "estimate_us", entry.estimate);
  writeKnown(json, "extra_us", entry.extra);
  if (entry.isChosen)
    json.attribute("chosen", true);
  writeKnown(json, "why_not", entry.whyNot);
}

static void writeChoice(OStream &json, const ProductRecord &choice) {
  json.attribute("source", stringifyScheduleSource(choice.source));
  json.attribute("pattern", choice.pattern.str());
  writeKnown(json, "chip", choice.chip);
  writeKnown(json, "threads", choice.threads);
  writeKnown(json, "lanes", choice.lanes);
  writeKnown(json, "typical_m", choice.typicalM);
  writeKnown(json, "estimate_us", choice.estimate);
  writeKnown(json, "dense_us", choice.denseEstimate);
  writeKnown(json, "multiply_floor_us", choice.multiplyFloor);
  writeKnown(json, "memory_floor_us", choice.memoryFloor);
  writeKnown(json, "shared_bytes", choice.sharedBytes);
  json.attribute("falls_back", choice.fallsBack);
  json.attribute("reason", choice.reason);
  if (!choice.alternatives.empty())
    json.attributeArray("alternatives", [&] {
      for (const AlternativeRecord &entry : choice.alternatives)
        json.object([&] { writeAlternative(json, entry); });
    });
}

static void writeOps(OStream &json, const FunctionRecord &function) {
  json.attributeArray("ops", [&] {
    for (const OpRecord &op : function.ops)
      json.object([&] {
        json.attribute("op", op.op);
        json.attribute("m", op.m);
        json.attribute("n", op.n);
        json.attribute("k", op.k);
        json.attribute("dtype", op.dtype);
        writeKnown(json, "case", op.tuneCase);
        json.attribute("strategy", op.strategy);
        json.attribute("schedule", op.schedule);
        json.attribute("parameters", op.parameters);
        json.attribute("loc", op.place);
        json.attribute("remark", op.remark + describeProfile(op.profile));
        writeProfile(json, op.profile);
        writeChoice(json, op.choice);
      });
  });
}

static void writeSteps(OStream &json, const FunctionRecord &function) {
  if (function.steps.empty())
    return;
  json.attributeArray("steps", [&] {
    for (const StepRecord &step : function.steps)
      json.object([&] {
        json.attribute("name", step.name);
        json.attribute("kernel", step.kernel);
        json.attribute("loc", step.place);
        json.attribute("bytes", step.bytes);
      });
  });
}

static void writeNames(OStream &json, StringRef key,
                       const std::vector<std::string> &names) {
  json.attributeArray(key, [&] {
    for (const std::string &name : names)
      json.value(name);
  });
}

static void writeVariants(OStream &json, const FunctionRecord &function) {
  if (function.variants.empty())
    return;
  json.attributeArray("variants", [&] {
    for (const VariantRecord &variant : function.variants)
      json.object([&] {
        writeNames(json, "chips", variant.chips);
        json.attribute("symbol", "_mlir_ciface_" + variant.symbol);
        writePack(json, variant.symbol, variant.packed);
      });
  });
}

static void writeFunction(OStream &json, const FunctionRecord &function) {
  const Signature &signature = function.signature;
  json.attribute("name", signature.name);
  writeSignature(json, signature, signature.name);
  writeEqualDims(json, signature);
  writePack(json, signature.name, function.packed);
  writeVariants(json, function);
  if (function.hasReference)
    json.attributeObject("reference", [&] {
      writeSignature(json, widen(signature), signature.name + ".reference");
    });
  writeOps(json, function);
  writeSteps(json, function);
  writeKnown(json, "temporary_bytes", function.temporaryBytes);
  json.attribute("flops", function.flops.fixed);
  json.attribute("flops_per_row", function.flops.perRow);
}

std::string mlir::nm::writeManifest(const ModuleRecord &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OStream json(stream);
  json.object([&] {
    json.attribute("version", getVersion(module));
    json.attribute("target", module.target);
    writeNames(json, "processor_features", module.processorFeatures);
    if (!module.chips.empty())
      writeNames(json, "chips", module.chips);
    json.attributeArray("functions", [&] {
      for (const FunctionRecord &function : module.functions)
        json.object([&] {
          writeFunction(json, function);
          json.attribute("constant_bytes", module.constantBytes);
        });
    });
  });
  return text;
}
