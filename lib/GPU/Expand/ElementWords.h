//===- ElementWords.h - Operands' elements as accumulators ------*- C++ -*-===//
//
// Products are summed in f32, those of i8 in i32. NVVM has no conversion from
// 8-bit floats that all chips know, so their bits are taken apart here.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_EXPAND_ELEMENTWORDS_H
#define NM_LIB_GPU_EXPAND_ELEMENTWORDS_H

#include "GPU/Expand/ThreadEmitter.h"

namespace mlir::nm {

/// `element` as an accumulator.
Value toAccumulator(ThreadEmitter &emitter, Value element);

/// An accumulator rounded to `type`.
Value fromAccumulator(ThreadEmitter &emitter, Value sum, Type type);

/// A scale that is left out of elements that decodeF8Word gives.
inline constexpr double kF8Scale = 256;

/// How many rows of A of `element` one word of shared memory holds, of `rows`.
int64_t rowsPerWord(Type element, int64_t rows);

/// The type of such a word: an accumulator where it holds one row, else i32.
Type wordType(Type element, int64_t rows);

/// Puts `rowsPerWord` elements into a word.
Value packWord(ThreadEmitter &emitter, ArrayRef<Value> elements);

/// The elements of a word, as accumulators.
SmallVector<Value> unpackWord(ThreadEmitter &emitter, Value word, Type element,
                              int64_t count);

/// The four 8-bit floats of `type` in an i32: f8E5M2 as they are, f8E4M3FN over
/// kF8Scale, and their NaNs as whatever: see nanBytes.
SmallVector<Value> decodeF8Word(ThreadEmitter &emitter, Value word, Type type);

/// An i32 with the top bit of each byte set where that byte of `word`, an
/// f8E4M3FN, is NaN.
Value nanBytes(ThreadEmitter &emitter, Value word);

} // namespace mlir::nm

#endif // NM_LIB_GPU_EXPAND_ELEMENTWORDS_H
