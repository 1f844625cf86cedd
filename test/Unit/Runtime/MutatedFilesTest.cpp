//===- MutatedFilesTest.cpp - Readers that are given anything -------------===//
//
// Valid files with bytes changed, dropped, repeated and put in place of others;
// see Mutator.h.
//
//===----------------------------------------------------------------------===//

#include "nm/Runtime/Manifest.h"
#include "nm/Runtime/Npy.h"
#include "nm/Support/Seal.h"

#include "../Mutator.h"
#include "../TemporaryFolder.h"

#include <gtest/gtest.h>

using namespace nm;

static constexpr const char *kManifest = R"({
  "version": 1, "target": "cuda", "chips": ["sm_80", "sm_90a+ptx"],
  "processor_features": "+avx2", "functions": [ {
    "name": "f", "symbol": "_mlir_ciface_f",
    "args": [ {"dtype": "f32", "shape": [-1, 64], "alignment": 16},
              {"dtype": "f16", "shape": [64, 256],
               "encoding": "8:32, block = 1x32, dim = 0"} ],
    "results": [ {"dtype": "f32", "shape": [-1, 256],
                  "dims": [ {"arg": 0, "dim": 0}, 256 ]} ],
    "equal_dims": [ [ {"arg": 0, "dim": 0}, {"arg": 1, "dim": 0} ] ],
    "pack": { "symbol": "f.pack", "weights": [
      {"arg": 1, "values": {"dtype": "f16", "shape": [4, 32, 64]},
                 "indices": {"dtype": "i8", "shape": [4, 32, 16]}} ] },
    "variants": [ { "chips": ["sm_80"], "symbol": "f.sm_80", "pack": null } ],
    "reference": { "symbol": "f.reference",
      "args": [ {"dtype": "f64", "shape": [-1, 64]},
                {"dtype": "f64", "shape": [64, 256]} ],
      "results": [ {"dtype": "f64", "shape": [-1, 256],
                    "dims": [ {"arg": 0, "dim": 0}, 256 ]} ] },
    "ops": [ {"strategy": "simt", "m": -1, "n": 256, "k": 64,
      "schedule": "#nm.simt<>", "parameters": {"block": [64, 64, 128]},
      "falls_back": false, "estimate_us": 1.5e-3, "reason": "\u00e9\n",
      "alternatives": [ {"name": "own", "estimate_us": 2, "chosen": true},
                        {"name": "dense", "why_not": "zeros"} ] } ],
    "flops_per_row": 16384, "constant_bytes": 0 } ] })";

TEST(MutatedFiles, ManifestIsReadOrRefused) {
  Mutator mutator({kManifest});
  for (int64_t i = fuzzExecutions(4000); i > 0; --i)
    if (Result<Manifest> manifest = Manifest::parse(mutator.draw()); !manifest)
      EXPECT_NE(manifest.error().message, "");
}

TEST(MutatedFiles, EncodingIsReadOrRefused) {
  Mutator mutator({"2:4", "8:32, block = 1x32, dim = 1", "1:4, block = 64x64"});
  for (int64_t i = fuzzExecutions(4000); i > 0; --i)
    if (Result<Encoding> encoding = Encoding::parse(mutator.draw()); encoding)
      EXPECT_LE(encoding->pattern.n, encoding->pattern.m);
}

/// A file of `version` whose dictionary is `text`.
static std::string npy(char version, std::string text, size_t bytes) {
  text += std::string(64 - text.size() % 64, ' ') + "\n";
  std::string header("\x93NUMPY", 6);
  header += {version, 0, char(text.size() & 0xff), char(text.size() >> 8)};
  if (version > 1)
    header += std::string(2, '\0');
  return header + text + std::string(bytes, '\1');
}

TEST(MutatedFiles, NpyIsReadOrRefused) {
  Mutator mutator(
      {npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }",
           60),
       npy(2, "{'descr': '|u1', 'fortran_order': True, 'shape': (7,), }", 7),
       npy(3, "{'shape': (), 'fortran_order': False, 'descr': '<V2'}", 2)});
  TemporaryFolder folder;
  int read = 0;
  for (int64_t i = fuzzExecutions(4000); i > 0; --i) {
    std::string bytes = mutator.draw();
    (void)NpyHeader::parse(bytes);
    // Files take longer.
    if (i % 16 != 0)
      continue;
    Result<NpyFile> file = NpyFile::open(folder.write("a.npy", bytes));
    if (!file)
      continue;
    // What is said to be there can be read.
    ++read;
    const Tensor &tensor = file->tensor();
    const auto *data = static_cast<const volatile char *>(tensor.data);
    int64_t size = tensor.bytes();
    if (size > 0)
      (void)(data[0] + data[size - 1]);
  }
  EXPECT_GT(read, 0);
}

/// The start of a shared object: headers of ELF, and a note with a build id.
static std::string elf() {
  std::string bytes("\x7f"
                    "ELF\2\1\1",
                    7);
  bytes.resize(64);
  bytes[32] = 64; // where program headers start
  bytes[54] = 56; // the size of one
  bytes[56] = 2;  // how many
  bytes.resize(64 + 2 * 56);
  bytes[64 + 56] = 4; // a note
  bytes[64 + 56 + 8] = char(bytes.size());
  bytes[64 + 56 + 32] = 36;
  bytes += std::string("\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0", 16);
  bytes += kSealedMark;
  return bytes + std::string(12, '\1');
}

TEST(MutatedFiles, SealIsCheckedOrRefused) {
  TemporaryFolder folder;
  std::string path = folder.write("seed.so", elf());
  EXPECT_FALSE(checkSeal(folder.read("seed.so")));
  ASSERT_TRUE(addSeal(path));
  EXPECT_TRUE(checkSeal(folder.read("seed.so")));
  Mutator mutator({elf(), folder.read("seed.so")});
  int64_t refused = 0, count = fuzzExecutions(4000) / 16;
  for (int64_t i = 0; i < count; ++i)
    if (Status status = checkSeal(mutator.draw()); !status) {
      EXPECT_NE(status.error().message, "");
      ++refused;
    }
  EXPECT_GT(refused, count / 4);
}
