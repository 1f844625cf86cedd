//===- Alternatives.h - The ways to make a product --------------*- C++ -*-===//
//
// One list, which nm-propagate-layouts asks for each A that a product could
// have, and nm-select-gpu-schedule for the one that it has. Alternatives are
// descriptions: nothing of the op changes before one of them is applied.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_SELECT_ALTERNATIVES_H
#define NM_LIB_GPU_SELECT_ALTERNATIVES_H

#include "GPU/Select/GpuProductCost.h"
#include "GPU/Select/GpuStrategy.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// One way to make a product.
struct Alternative {
  /// The operands of each call: as they are; 8 bits widened to f16; quantized
  /// weights that registers convert; or quantized weights that become 16-bit
  /// ones before the product.
  enum class Operands { AsTheyAre, Widened, InRegisters, Dequantized };
  /// The form that weights get when they are loaded. Dense ones are for cuBLAS,
  /// and those of Convolution for cuDNN, where it can be loaded and has the
  /// convolution; where not, the product is another alternative.
  enum class Weights {
    AsTheyAre,
    Coarsened,
    PackedDense,
    Overlapping,
    RepeatedByCopies,
    Dense,
    Convolution
  };

  Operands operands = Operands::AsTheyAre;
  Weights weights = Weights::AsTheyAre;
  /// The product with these operands and weights, as the models see it.
  ::nm::GpuProduct product;
  /// Whether weights may be packed before it.
  bool packs = true;
  /// Whether dense weights have the k of each column side by side.
  bool inColumns = false;
  /// The pattern that weights are compressed to, if not their own.
  ::nm::Pattern pattern;
  /// Its schedule, or why there is none. Those of Dense and Convolution are
  /// null until they are applied, and so is one that is given and cannot be.
  ::nm::Result<ScheduleChoice> choice = ::nm::Error{};
  /// Microseconds of the kernels before the product.
  double extraCost = 0;
  /// The factor of its time where alternatives are compared.
  double handicap = 1;
  /// Why it is not taken, whatever its time.
  std::string obstacle;
  /// The work beside the product, in clauses that begin with "; ".
  std::string steps;

  /// As in `own`, `dense`, `widened m-major, coarsened`.
  std::string getName() const;
  /// As in `12.3 us by strategy simt`, of which `extraCost` is before it.
  std::string describe(double extraCost) const;
  double total() const { return extraCost + choice->microseconds; }
  bool isDense() const { return weights == Weights::Dense; }
  bool isConvolution() const { return weights == Weights::Convolution; }
  /// Whether what is given leads to no schedule.
  bool isGivenWrong() const {
    return choice && !choice->schedule && !isDense() && !isConvolution();
  }
  /// That of the schedule, or the library.
  StringRef getStrategyName() const;
  bool isPossible() const {
    return choice && !isGivenWrong() && obstacle.empty();
  }
};

/// A product, with an A of `form`, and how it is asked for.
struct AlternativesQuery {
  SparseProductOpInterface op;
  const ::nm::GpuChip &chip;
  const SelectionOptions &options;
  ActivationForm form = ActivationForm::AsIs;
};

using AlternativeList = std::vector<Alternative>;

/// All ways to make the product, also those that cannot be taken; the weights
/// as they are come first.
AlternativeList listAlternatives(const AlternativesQuery &query);

/// All of `list` but cuDNN's convolution, one of which takes its place.
AlternativeList withoutConvolution(ArrayRef<Alternative> list);

/// The one that selection takes: the fastest by estimate, or the first where a
/// schedule is given and it has it. Null where none is possible.
const Alternative *findBest(ArrayRef<Alternative> list,
                            const SelectionOptions &options);

/// The estimate of a product that no strategy takes: finite, so that of others
/// beside it still counts.
inline constexpr double kRefusedMicroseconds = 1e9;

/// The microseconds that selection estimates for the product, all that it takes
/// at each call included: kRefusedMicroseconds where no strategy takes it, or
/// the one that is given does not, and 0 where no model says anything.
double estimateProduct(const AlternativesQuery &query);

/// Gives `op`, on tensors, the operands and weights of `alternative`, but for
/// quantized weights that a kernel converts. Returns the product.
SparseProductOpInterface applyAlternative(RewriterBase &rewriter,
                                          SparseProductOpInterface op,
                                          const Alternative &alternative);

//===----------------------------------------------------------------------===//
// Alternatives that change weights or operands
//===----------------------------------------------------------------------===//

/// `own` with its weights in coarsened blocks: units of 64 or 128 columns that
/// keep the rows of all units that they meet, which strategy wgmma multiplies
/// fastest. None where it has no such product, or weights may not be compressed
/// again.
std::optional<Alternative> coarsenBlocks(const AlternativesQuery &query,
                                         const Alternative &own);

/// `own`, whose weights are dense because it is not known before they are
/// loaded where they are kept, with what strategy wgmma multiplies, which packs
/// them then. It has no schedule yet. None where the product has other weights,
/// or tensor cores would not multiply f32 as its arithmetic wants it, and
/// strategy wgmma is not asked for.
std::optional<Alternative> packDense(const AlternativesQuery &query,
                                     const Alternative &own);

/// Chooses the schedule of `packed`, in place of the schedule of `own`.
void choosePackedDense(const AlternativesQuery &query, const Alternative &own,
                       Alternative &packed);

/// The fastest product whose windows are cut into groups of four rows that
/// overlap by two, of each of which tensor cores take two weights, in place of
/// `own`. Its pattern is M - 2 of an even M. None where strategies of sparse
/// operands take the pattern as it is, where a unit has more than one row or
/// windows keep too many, and where weights may not be compressed again, or no
/// zeros may be among them.
std::optional<Alternative> overlapGroups(const AlternativesQuery &query,
                                         const Alternative &own);

/// The product of `groups`, which is that of overlapGroups, whose tensor copies
/// repeat rows of an m-major A in 16 bits, so that no kernel does before it.
/// None where tensor copies cannot take the A that is asked about.
std::optional<Alternative> repeatInCopies(const AlternativesQuery &query,
                                          const Alternative &own,
                                          const Alternative &groups);

/// Makes `op`, on tensors, the product of 2:4 of repeatInCopies, of weights
/// that are compressed to `kept` before.
void repeatByCopies(RewriterBase &rewriter, SparseProductOpInterface op,
                    const ::nm::Pattern &kept);

/// Makes `op`, on tensors, the product of 2:4, of weights that are compressed
/// to `kept` before.
void overlapWindows(RewriterBase &rewriter, SparseProductOpInterface op,
                    const ::nm::Pattern &kept);

/// `product`, with 8-bit operands, as one of f16, which has all of their
/// values, and what a kernel takes that widens A: to an m-major one or to a
/// row-major one, whatever it was before. Weights are widened when they are
/// loaded. It has no schedule yet. None where the product has no operands of 8
/// bits, or its weights may not change.
std::optional<Alternative> widenProduct(const AlternativesQuery &query,
                                        const ::nm::GpuProduct &product,
                                        bool isMMajor);

/// Makes `op`, on tensors, one of f16. Returns the product.
SparseProductOpInterface widenOperands(RewriterBase &rewriter,
                                       SparseProductOpInterface op,
                                       bool isMMajor);

/// `own` as a convolution of cuDNN with dense weights, where its A is patches
/// of an image and its weights are constant; none of other products, and where
/// its sums must not depend on how many rows there are.
std::optional<Alternative> convolveByLibrary(const AlternativesQuery &query,
                                             const Alternative &own);

/// The microseconds of the kernel behind a library's product that does what the
/// product's epilogue does, or adds its C; 0 where there is nothing to do.
double estimateEpilogueKernel(const AlternativesQuery &query);

/// Makes two branches of `op`, on tensors: for where cuDNN can be loaded, with
/// that convolution, which is returned, of dense weights and without an
/// epilogue; and for where it cannot or refuses, with `op` itself.
SpMMOp branchOnConvolution(RewriterBase &rewriter, SparseProductOpInterface op);

/// Moves what nothing but `op` reads to the branch that it is in.
void sinkOperands(SparseProductOpInterface op);

//===----------------------------------------------------------------------===//
// The record
//===----------------------------------------------------------------------===//

/// Why `best` of `list` is taken.
std::string explainChoice(const AlternativesQuery &query,
                          ArrayRef<Alternative> list, const Alternative &best);

/// Why none of `list` is possible.
std::string explainRefusal(ArrayRef<Alternative> list);

/// The record's entries for `list`, of which `best` is taken, and for the best
/// alternatives with another A.
std::vector<AlternativeRecord> recordAlternatives(AlternativesQuery query,
                                                  ArrayRef<Alternative> list,
                                                  const Alternative *best);

} // namespace mlir::nm

#endif // NM_LIB_GPU_SELECT_ALTERNATIVES_H
