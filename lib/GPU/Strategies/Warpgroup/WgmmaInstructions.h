//===- WgmmaInstructions.h - wgmma and its descriptors ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_WGMMAINSTRUCTIONS_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_WGMMAINSTRUCTIONS_H

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Strategies/Mma/SparseOperands.h"

#include "nm/Format/MatrixDescriptor.h"

namespace mlir::nm {

/// Bytes of a row of a panel, in which 16-byte words are swizzled.
inline constexpr int64_t kPanelRowBytes = 128;
/// Bytes of the k of a dense instruction, and its k of 16-bit types.
inline constexpr int64_t kWgmmaBytes = 32, kWgmmaK = kWgmmaBytes / 2;

/// The descriptor of the matrix that begins `offset` bytes behind the start of
/// `buffer`, in workgroup memory, and has the strides and swizzle of `layout`.
Value getMatrixDescriptor(ThreadEmitter &emitter, Value buffer, Value offset,
                          const ::nm::MatrixDescriptor &layout);

/// That of an operand that is contiguous along m or n, from the first row of k
/// of a panel of 64 columns on, and of each `apart`th panel behind it; all have
/// `rows` of k each. See getPanelledType.
Value getPanelDescriptor(ThreadEmitter &emitter, Value buffer, Value panel,
                         int64_t rows, int64_t apart = 1);
/// That of an operand that is contiguous along k, a panel of 64 k whose first
/// row is `row`.
Value getKMajorDescriptor(ThreadEmitter &emitter, Value buffer, Value row);
/// That of weights that are contiguous along k, without a swizzle: for each 16
/// bytes of k, those of 64 columns side by side. The first is `offset` bytes
/// behind the start of `buffer`.
Value getChunkDescriptor(ThreadEmitter &emitter, Value buffer, Value offset);

/// The descriptor of the matrix that `descriptor` has, `bytes` further on.
Value advanceDescriptor(ThreadEmitter &emitter, Value descriptor,
                        int64_t bytes);

/// What a product does with the sums that it is given.
enum class SumsUse { Make, Add, Subtract };

/// wgmma of `m` rows of A and `sums`, a struct. Operands of 16 bits are
/// contiguous along m and n, those of 8 bits along k.
Value emitWgmma(ThreadEmitter &emitter, Type element, int64_t m, Value weights,
                Value activations, Value sums, SumsUse use);

/// An instruction that the NVVM dialect lacks: one with a sparse operand, or
/// with one in registers.
struct WgmmaText {
  const SparseTypes &types;
  bool isSparse;
  /// The columns and the k of the instruction.
  int64_t columns, k;
  /// PTX's text of the operands behind the sums, and of the immediates behind
  /// what they are multiplied by.
  std::string operands, layouts;
  /// The constraints of the operands.
  StringRef constraints;
};

/// The instruction `text` on `sums`, scalars, and `operands`: a struct.
Value emitWgmmaText(ThreadEmitter &emitter, const WgmmaText &text,
                    ArrayRef<Value> sums, ValueRange operands, SumsUse use);

/// Gives `sums` the scalars of the struct `result`.
void takeSums(ThreadEmitter &emitter, Value result,
              MutableArrayRef<Value> sums);

/// The dense instruction of `k` whose first operand is `rows`, a lane's four
/// words, and whose second one is the matrix of `descriptor`, with two columns
/// for each of `sums`; `layouts` as of WgmmaText.
void emitWgmmaOfRegisters(ThreadEmitter &emitter, const SparseTypes &types,
                          int64_t k, ArrayRef<Value> rows, Value descriptor,
                          MutableArrayRef<Value> sums, SumsUse use,
                          StringRef layouts = "");

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_WGMMAINSTRUCTIONS_H
