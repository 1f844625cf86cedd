//===- ProfileKernel.cpp - Intensities by the schedule's tiles ------------===//

#include "nm/GPU/Select/ProfileKernel.h"

#include "nm/Support/Warp.h"

#include <algorithm>
#include <iterator>
#include <utility>

using namespace nm;

/// Bytes that a multiprocessor has of the second-level cache in a clock at
/// most.
static constexpr int64_t kL2BytesPerClock = 64;
/// wgmma's tile of C: 64 columns, whose weights are its first operand, and as
/// many rows at most.
static constexpr int64_t kInstructionColumns = 64, kMaxInstructionRows = 256;

namespace {
class Profile {
public:
  Profile(const GpuProduct &product, std::string_view strategy,
          const ScheduleFields &fields)
      : product(product), fields(fields), unit(unitOfStrategy(strategy)),
        // mma_bitmap keeps zeros out of memory alone.
        multiplied(strategy == "mma_bitmap" ? 1
                   : unit == Unit::SparseTensorCores
                       ? 0.5
                       : double(product.pattern.n) / double(product.pattern.m)),
        // Tensor cores have an f32 as three bf16.
        bytes(unit != Unit::CudaCores && product.type == ElementType::F32
                  ? 6
                  : double(elementSize(product.type))) {}

  KernelProfile make() const;
  /// Operations of the product that are made.
  double operations() const {
    return 2 * double(product.rows()) * double(product.n) * double(product.k) *
           multiplied;
  }
  /// From shared memory for the tile of a warp or of wgmma, whose threads share
  /// what they want of one word: no kernel reads less.
  double leastOfShared() const;

private:
  struct Tile {
    double m, n;
  };

  /// Operations a byte of the operands of a tile of C, where `rows` of each
  /// row of A's k are read, and weights have `indexBytes` each.
  double intensity(Tile tile, double rows, double indexBytes) const {
    return 2 * tile.m * tile.n * multiplied /
           (tile.m * rows * bytes + tile.n * multiplied * (bytes + indexBytes));
  }
  /// Rows of A that threads, warps or instructions load: the rows that they
  /// multiply, but for sparse tensor cores, which choose among four.
  double rowsMultiplied() const {
    return unit == Unit::SparseTensorCores ? 1 : multiplied;
  }
  /// Rows of A that blocks stage.
  double rowsStaged() const {
    return unit == Unit::TensorCores || fields.pack ? multiplied : 1;
  }
  double indexBytes() const {
    const Pattern &pattern = product.pattern;
    return double(pattern.indexBits()) / 8 / double(pattern.bn * pattern.bk);
  }
  Tile tileOfInstruction() const {
    if (fields.warpgroupM == 0)
      return {double(fields.warpM), double(fields.warpN)};
    return {double(std::min(fields.warpgroupM, kMaxInstructionRows)),
            double(std::min(fields.warpgroupN, kInstructionColumns))};
  }
  double ofMemory() const;

  const GpuProduct &product;
  const ScheduleFields &fields;
  Unit unit;
  /// The share of the dense product's multiplications that are made.
  double multiplied;
  /// Bytes of an element of A, and of a weight.
  double bytes;
};
} // namespace

double Profile::leastOfShared() const {
  return intensity(tileOfInstruction(), rowsMultiplied(), 0);
}

double Profile::ofMemory() const {
  double rows = double(product.rows()), n = double(product.n),
         kept = double(product.pattern.condensedRows(product.k));
  double moved =
      double(elementSize(product.type)) * rows * double(product.k) +
      kept * n * (double(product.bitsOfWeight()) / 8 + indexBytes()) +
      rows * n * double(elementSize(product.outputType));
  return 2 * rows * n * kept / moved;
}

KernelProfile Profile::make() const {
  KernelProfile profile;
  if (unit == Unit::Library || fields.blockM == 0 || product.k == 0)
    return profile;
  profile.ofMemory = ofMemory();
  // A multiply-add reads three numbers.
  if (unit == Unit::CudaCores)
    profile.ofRegisters = 2 / (3 * bytes);
  Tile block{std::min(double(fields.blockM), double(product.rows())),
             std::min(double(fields.blockN), double(product.n))};
  profile.ofL2 = intensity(block, rowsStaged(), indexBytes());
  Tile tile = fields.threadM != 0
                  ? Tile{double(fields.threadM), double(fields.threadN)}
                  : tileOfInstruction();
  if (tile.m == 0 || tile.n == 0)
    return profile;
  profile.ofShared = intensity(tile, rowsMultiplied(), 0);
  profile.computeToLoads = *profile.ofShared * bytes / 2;
  return profile;
}

/// Registers of a thread: its sums, a row of operands, and what addresses and
/// positions take. Warpgroups with roles start with an even share.
static int64_t estimateRegisters(const ScheduleFields &fields,
                                 int64_t threads) {
  constexpr int64_t kOfCudaCores = 48, kOfTensorCores = 76;
  int64_t ofBlock =
      std::min(kMaxRegisters,
               threads > 0 ? kRegisters / threads / 8 * 8 : kMaxRegisters);
  if (fields.warpgroupM != 0)
    return ofBlock;
  int64_t registers =
      fields.threadM != 0
          ? fields.threadM * fields.threadN + fields.threadM + fields.threadN +
                kOfCudaCores
          : fields.warpM * fields.warpN / kWarpSize + kOfTensorCores;
  return std::min(registers, ofBlock);
}

KernelProfile nm::profileKernel(const GpuProduct &product, const GpuChip &chip,
                                std::string_view strategy,
                                const ScheduleFields &fields, int64_t threads,
                                const ScheduleEstimate *estimate) {
  Profile made(product, strategy, fields);
  KernelProfile profile = made.make();
  if (!profile.ofL2)
    return profile;
  profile.threads = threads;
  profile.registers = estimateRegisters(fields, threads);
  profile.registersFrom = "estimate";
  if (!estimate)
    return profile;
  if (threads > 0)
    profile.occupancy =
        occupancyOf(chip, threads, *profile.registers, estimate->sharedBytes);
  // Bytes in a microsecond.
  double perClock = double(chip.multiprocessors) * chip.clockGHz * 1000;
  std::pair<double, const char *> floors[] = {
      {estimate->multiplyFloor, "compute"},
      {estimate->memoryFloor, "memory"},
      {made.operations() / made.leastOfShared() /
           (chip.rates.shared * perClock),
       "shared"},
      {made.operations() / *profile.ofL2 /
           (double(kL2BytesPerClock) * perClock),
       "l2"}};
  profile.bound = std::max_element(std::begin(floors), std::end(floors),
                                   [](const auto &a, const auto &b) {
                                     return a.first < b.first;
                                   })
                      ->second;
  return profile;
}
