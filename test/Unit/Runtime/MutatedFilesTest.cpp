//===- MutatedFilesTest.cpp - Readers that are given anything -------------===//
//
// Valid files with bytes changed, dropped, repeated and put in place of others:
// a reader takes them or says why not, and ends no process. Seeds are fixed.
//
//===----------------------------------------------------------------------===//

#include "nm/Runtime/Manifest.h"
#include "nm/Runtime/Npy.h"

#include "../TemporaryFolder.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

using namespace nm;

namespace {
/// Makes mutants of `seeds`.
class Mutator {
public:
  explicit Mutator(std::vector<std::string> seeds)
      : seeds(std::move(seeds)), random(11) {}

  std::string draw() {
    std::string bytes = seeds[below(seeds.size())];
    for (size_t count = 1 + below(4); count > 0; --count)
      mutate(bytes);
    return bytes;
  }

private:
  size_t below(size_t bound) { return random() % std::max<size_t>(bound, 1); }
  void mutate(std::string &bytes);
  void changeNumber(std::string &bytes);

  std::vector<std::string> seeds;
  std::mt19937_64 random;
};
} // namespace

/// Puts a number at a limit in the place of one in the text.
void Mutator::changeNumber(std::string &bytes) {
  static constexpr std::array<const char *, 12> numbers = {
      "0",
      "-1",
      "1",
      "4294967296",
      "2147483648",
      "9223372036854775807",
      "1e308",
      "-9223372036854775808",
      "1.5",
      "18446744073709551616",
      "1099511627777",
      "4611686018427387904"};
  size_t first = bytes.find_first_of("0123456789", below(bytes.size()));
  if (first == std::string::npos)
    return;
  size_t end = bytes.find_first_not_of("0123456789", first);
  bytes.replace(first, end - first, numbers[below(numbers.size())]);
}

void Mutator::mutate(std::string &bytes) {
  size_t at = below(bytes.size()), length = 1 + below(8);
  switch (below(6)) {
  case 0:
    if (!bytes.empty())
      bytes[at] = char(random());
    return;
  case 1:
    bytes.erase(at, length);
    return;
  case 2:
    bytes.insert(at, bytes.substr(below(bytes.size()), length * 4));
    return;
  case 3:
    bytes.resize(at);
    return;
  case 4:
    bytes.replace(at, std::min(length, bytes.size() - at),
                  bytes.substr(below(bytes.size()), length));
    return;
  default:
    changeNumber(bytes);
  }
}

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
      "falls_back": false, "estimate_us": 1.5e-3, "reason": "\u00e9\n" } ],
    "flops_per_row": 16384, "constant_bytes": 0 } ] })";

TEST(MutatedFiles, ManifestIsReadOrRefused) {
  Mutator mutator({kManifest});
  for (int i = 0; i < 4000; ++i)
    if (Result<Manifest> manifest = Manifest::parse(mutator.draw()); !manifest)
      EXPECT_NE(manifest.error().message, "");
}

TEST(MutatedFiles, EncodingIsReadOrRefused) {
  Mutator mutator({"2:4", "8:32, block = 1x32, dim = 1", "1:4, block = 64x64"});
  for (int i = 0; i < 4000; ++i)
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
  for (int i = 0; i < 4000; ++i) {
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
