//===- ModelAnswers.h - What models have answered before --------*- C++ -*-===//
//
// The propagation of layouts, the pairing of products and selection ask models
// for the schedule of each product, with several layouts of A, and layers of a
// neural network have equal products. A model's answer depends on nothing but
// what it is given, so that it is kept beside all of that: a product that has
// changed finds no answer of what it was.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_SELECT_MODELANSWERS_H
#define NM_LIB_GPU_SELECT_MODELANSWERS_H

#include "nm/GPU/Select/GpuSchedule.h"
#include "nm/Schedule/GpuChip.h"

#include <optional>
#include <tuple>
#include <vector>

namespace nm {

/// All fields. One that is new does not compile here.
inline auto listFields(const GpuProduct &product) {
  const auto &[pattern, m, n, k, type, outputType, splits, allowsTF32,
               hasFastAccum, weightBits, scaleGroup, kept, ellSteps, isVector,
               isMMajor, isCMMajor, isPacked, strideOfA, rowPacking, promote,
               isMadeElementwise, hasSplitsOfA, batch, hasImage, hasPixels,
               isImageTransposed, imageElements, hasChannelsLast, imagePart,
               patchMicroseconds, storesByTensor, avoidsPrunedWeights] =
      product;
  return std::tie(pattern, m, n, k, type, outputType, splits, allowsTF32,
                  hasFastAccum, weightBits, scaleGroup, kept, ellSteps,
                  isVector, isMMajor, isCMMajor, isPacked, strideOfA,
                  rowPacking, promote, isMadeElementwise, hasSplitsOfA, batch,
                  hasImage, hasPixels, isImageTransposed, imageElements,
                  hasChannelsLast, imagePart, patchMicroseconds, storesByTensor,
                  avoidsPrunedWeights);
}
inline auto listFields(const GpuRates &rates) {
  const auto &[tensor, mma, shared, received, stored, launch, earlyLaunch,
               start, barrier, latency, loadedClock, reachedMemory] = rates;
  return std::tie(tensor, mma, shared, received, stored, launch, earlyLaunch,
                  start, barrier, latency, loadedClock, reachedMemory);
}
inline auto listFields(const GpuChip &chip) {
  const auto &[name, ptxVersion, multiprocessors, fmaPerClock, clockGHz,
               memoryGBs, sharedPerBlock, sharedPerMultiprocessor, isSm90,
               hasWgmma, multipliesFloat8, multipliesSparseFloat8, rates] =
      chip;
  return std::tuple_cat(std::tie(name, ptxVersion, multiprocessors, fmaPerClock,
                                 clockGHz, memoryGBs, sharedPerBlock,
                                 sharedPerMultiprocessor, isSm90, hasWgmma,
                                 multipliesFloat8, multipliesSparseFloat8),
                        listFields(rates));
}

/// The answers of one model for products of one chip. `Args` are what else it
/// is given.
template <typename... Args>
class ModelAnswers {
public:
  template <typename Model>
  Result<GpuSchedule> find(Model select, const GpuProduct &product,
                           const GpuChip &chip, Args... args) {
    setChip(chip);
    for (const Answer &answer : answers)
      if (answer.args == std::tie(args...) &&
          listFields(answer.product) == listFields(product))
        return answer.schedule;
    if (answers.size() == kMost)
      answers.clear();
    answers.push_back({product, {args...}, select(product, chip, args...)});
    return answers.back().schedule;
  }

private:
  struct Answer {
    GpuProduct product;
    std::tuple<Args...> args;
    Result<GpuSchedule> schedule;
  };
  static constexpr size_t kMost = 256;

  void setChip(const GpuChip &asked) {
    if (chip && listFields(*chip) == listFields(asked))
      return;
    answers.clear();
    chip = asked;
  }

  std::optional<GpuChip> chip;
  std::vector<Answer> answers;
};

/// What the model `Select` answers, which is asked once for equal products.
template <auto Select, typename... Args>
Result<GpuSchedule> selectOnce(const GpuProduct &product, const GpuChip &chip,
                               Args... args) {
  thread_local ModelAnswers<Args...> answers;
  return answers.find(Select, product, chip, args...);
}

} // namespace nm

#endif // NM_LIB_GPU_SELECT_MODELANSWERS_H
