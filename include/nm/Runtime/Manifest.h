//===- Manifest.h - What a compiled module says of itself -------*- C++ -*-===//
//
// A compiled module exports `nm_manifest`, a NUL-terminated JSON text:
//
//   { "version": 3, "target": "cpu",
//     "processor_features": ["avx2", "fma"],
//     "functions": [ {
//       "name": "ffn",
//       "symbol": "_mlir_ciface_ffn",
//       "args": [
//         { "dtype": "f32", "shape": [-1, 64] },
//         { "dtype": "f32", "shape": [64, 256],
//           "encoding": "2:4, block = 1x32, dim = 0" } ],
//       "results": [
//         { "dtype": "f32", "shape": [-1, 256],
//           "dims": [ {"arg": 0, "dim": 0}, 256 ] } ],
//       "equal_dims": [ [ {"arg": 0, "dim": 0}, {"arg": 2, "dim": 0} ] ],
//       "pack": {
//         "symbol": "_mlir_ciface_ffn.pack",
//         "weights": [
//           { "arg": 1, "values":  { "dtype": "f32", "shape": [4, 32, 64] },
//                       "indices": { "dtype": "i8",  "shape": [4, 32, 16] } } ]
//       },
//       "reference": { "symbol": "_mlir_ciface_ffn.reference",
//                      "args": [...], "results": [...] },
//       "ops": [ { "op": "nm.spmm", "pattern": "2:4, block = 1x32",
//                  "m": -1, "n": 256, "k": 64, "dtype": "f32",
//                  "case": "?x256x64 2:4, block = 1x32 f32",
//                  "strategy": "simt", "schedule": "#nm.simt<...>",
//                  "parameters": { "block": [64, 64, 128], "stages": 2 },
//                  "source": "model", "chip": "sm_90", "typical_m": 1024,
//                  "estimate_us": 9.0, "dense_us": 19.8,
//                  "multiply_floor_us": 2.3, "memory_floor_us": 0.9,
//                  "shared_bytes": 86016, "registers": 128,
//                  "registers_from": "ptxas", "occupancy": 0.25,
//                  "intensity_registers": 0.17, "intensity_shared": 2.0,
//                  "intensity_l2": 12.4, "intensity_memory": 80.1,
//                  "compute_to_loads": 4.0, "bound": "compute",
//                  "falls_back": false,
//                  "reason": "...",
//                  "alternatives": [ { "name": "own", "strategy": "simt",
//                                      "estimate_us": 9.0, "chosen": true },
//                                    { "name": "dense", "strategy": "cublas",
//                                      "estimate_us": 19.8 } ],
//                  "loc": "ffn.mlir:4:8",
//                  "remark": "..." } ],
//       "steps": [ { "name": "nm.spmm <2:4> simt", "kernel": "ffn_kernel",
//                    "loc": "ffn.mlir:4:8", "bytes": 81920 } ],
//       "temporary_bytes": 4096, "flops": 0, "flops_per_row": 32768,
//       "constant_bytes": 0 } ] }
//
// A size of -1 is dynamic. `symbol` takes one pointer to a memref descriptor
// per argument, two (values, indices) for an encoded one that is not packed,
// and then one per result, which the caller allocates. `dims` gives each size
// of a result, as a number or as an argument's dimension; it may be left out
// where the shape is static. `pack` takes the condensed (values, indices) of
// each listed weight in order and then their packed forms, which the caller
// allocates; from then on the packed parts are passed in place of the condensed
// ones. They are (values, indices), and "lists" behind them where the packed
// form has lists of rows, of a type as that of "indices". What has the same
// "layout", a text, becomes of the same condensed parts the same packed ones.
// `reference` is the
// same function in float64 on dense weights; its arguments and results
// correspond to the function's one by one. Operations of one call are `flops`
// plus `flops_per_row` times the first dynamic size among the arguments;
// `constant_bytes` are read from the module itself. `ops` are the products,
// with the fields of #nm.record, which are absent where they are there, and the
// schedule as text and by its parameters; a CPU's have "threads" and "lanes" in
// place of "chip". `steps` say what a module that can be profiled does between
// the times that it takes, in order; "kernel" is empty for what is no launch,
// and "bytes", of the operands, are -1 where not known. A call takes
// `temporary_bytes`, on a GPU of its memory, and more where sizes are dynamic.
// `encoding`, `equal_dims`, `pack`, `reference`, `ops`, `steps`,
// `processor_features` and the four counts may be absent or null.
//
// A compiled function writes to no argument but those with "updated": true,
// which it updates in place; it takes row-major memory aligned to the element,
// and may be called from several threads at once.
//
// A module for a GPU has "target": "cuda" and, for people to read, what it
// carries kernels for:
//
//     "chips": [ "sm_90a", "sm_80+ptx" ]
//
// Where there are several, schedules and with them packed forms may differ: a
// function has code for each, and takes that which suits its device best. Its
// own `symbol` and `pack` are those of the last:
//
//     "variants": [ { "chips": ["sm_80"], "symbol": "_mlir_ciface_ffn.sm_80",
//                     "pack": {...} },
//                   { "chips": ["sm_90a", "sm_90a+ptx"],
//                     "symbol": "_mlir_ciface_ffn", "pack": {...} } ]
//
// `symbol` takes memory of one CUDA device, queues its work on the stream
// that nmGetStream gives and does not wait. An argument or a result may have
// "alignment": 16, the bytes that its memory must be aligned to; the runtime
// copies what is not, or is strided, before and after. `pack` and
// `reference` are functions of the host; the runtime uploads packed weights, to
// memory aligned to 256 bytes.
//
//===----------------------------------------------------------------------===//

#ifndef NM_RUNTIME_MANIFEST_H
#define NM_RUNTIME_MANIFEST_H

#include "nm/Format/ElementType.h"
#include "nm/Format/Pattern.h"
#include "nm/Runtime/Export.h"
#include "nm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nm {

/// The version of the manifest that this runtime reads.
/// Version 1, which is read too, has no "lists": they stand behind the indices
/// of their tile, where only the module's own code looks for them.
/// Version 2 has no "updated".
inline constexpr int64_t kManifestVersion = 3, kOldestManifestVersion = 1;
inline constexpr int64_t kDynamicSize = -1;

/// The encoding of a weight: its pattern, and where k is in its type.
struct NM_RUNTIME_API Encoding {
  Pattern pattern;
  int64_t dim = 0;

  std::string str() const;
  /// Parses `2:4`, `8:32, block = 1x32, dim = 1`.
  static Result<Encoding> parse(std::string_view text);
};

/// The type of an argument or a result.
struct NM_RUNTIME_API TensorType {
  ElementType element = ElementType::F32;
  std::vector<int64_t> shape;
  std::optional<Encoding> encoding;
  /// Bytes; 0 stands for those of the element.
  int64_t alignment = 0;
  /// Whether the function updates this argument in place.
  bool isUpdated = false;

  int64_t rank() const { return int64_t(shape.size()); }
  /// As MLIR writes it: tensor<?x64xf32, #nm.encoding<2:4>>, and memref<8xf32>
  /// where it is updated.
  std::string str() const;
};

/// Dimension `dim` of argument `arg`.
struct DimRef {
  int64_t arg = 0;
  int64_t dim = 0;
};

/// A size of a result: `size`, or that of an argument's dimension.
struct ResultDim {
  int64_t size = 0;
  std::optional<DimRef> from;
};

/// Where one weight's packed form goes.
struct PackedWeightInfo {
  int64_t arg = 0;
  TensorType values;
  TensorType indices;
  std::optional<TensorType> lists;
  /// How it is packed; empty where the module does not say.
  std::string layout;
};

struct PackInfo {
  std::string symbol;
  std::vector<PackedWeightInfo> weights;
};

/// One way to make a product, as #nm.alternative says it.
struct AlternativeInfo {
  std::string name, strategy, whyNot;
  std::optional<double> estimate, extra;
  bool isChosen = false;
};

/// How one product of a function was compiled; NMRecord.td describes the
/// fields. Times are in microseconds, and absent where no cost model gives
/// them.
struct OpInfo {
  std::string op;
  /// As in `8:32, block = 1x32`.
  std::string pattern;
  int64_t m = kDynamicSize, n = kDynamicSize, k = kDynamicSize;
  std::string dtype;
  std::string strategy;
  /// The attribute, as text.
  std::string schedule;
  std::string source;
  std::string reason;
  std::string loc;
  /// All of it in a sentence, for people to read.
  std::string remark;
  bool fallsBack = false;
  std::optional<double> estimate, denseEstimate, multiplyFloor, memoryFloor;
  std::optional<int64_t> sharedBytes;
  std::vector<AlternativeInfo> alternatives;
  /// Registers of a thread, and who counted them: `ptxas`, or the model's
  /// `estimate`.
  std::optional<int64_t> registers;
  std::string registersFrom;
  std::optional<double> occupancy, intensityRegisters, intensityShared,
      intensityL2, intensityMemory, computeToLoads;
  std::string bound;
};

/// A step: the work of a function between two times that it takes.
struct StepInfo {
  /// The ops that it computes, as `nm.spmm <2:4> simt + linalg.fill`.
  std::string name;
  /// Empty for what is no launch.
  std::string kernel;
  std::string loc;
  /// Bytes of the step's operands, each counted once; -1 where not known.
  int64_t bytes = -1;
};

/// A function's code for one chip.
struct VariantInfo {
  /// `sm_90a`, `sm_90a+ptx`.
  std::vector<std::string> chips;
  std::string symbol;
  std::optional<PackInfo> pack;
};

struct Signature {
  std::string symbol;
  std::vector<TensorType> args;
  std::vector<TensorType> results;
  /// One list per result, one entry per dimension.
  std::vector<std::vector<ResultDim>> resultDims;
};

struct FunctionInfo : Signature {
  std::string name;
  std::vector<std::vector<DimRef>> equalDims;
  std::optional<PackInfo> pack;
  std::vector<VariantInfo> variants;
  std::optional<Signature> reference;
  std::vector<OpInfo> ops;
  /// Empty where the module was not compiled to be profiled.
  std::vector<StepInfo> steps;
  /// Bytes of the temporaries whose sizes are static.
  int64_t temporaryBytes = 0;
  double flops = 0;
  double flopsPerRow = 0;
  double constantBytes = 0;
};

struct NM_RUNTIME_API Manifest {
  std::string target;
  /// What the processor must have, in LLVM's names.
  std::vector<std::string> processorFeatures;
  /// What a module for CUDA carries kernels for.
  std::vector<std::string> chips;
  std::vector<FunctionInfo> functions;

  /// Parses and checks `text`; errors name the entry that is wrong.
  static Result<Manifest> parse(std::string_view text);
};

} // namespace nm

#endif // NM_RUNTIME_MANIFEST_H
