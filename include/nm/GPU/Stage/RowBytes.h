//===- RowBytes.h - Where rows of A start for copies to tiles ---*- C++ -*-===//
//
// What the kinds of copies demand of rows in global memory. The cost models ask
// it of the rows that an A has, nm-align-operands copies operands whose views
// do not say so, and the stages check it.
//
//===----------------------------------------------------------------------===//

#ifndef NM_GPU_STAGE_ROWBYTES_H
#define NM_GPU_STAGE_ROWBYTES_H

#include <cstdint>

namespace nm {

/// The bytes that rows start at multiples of: of asynchronous copies by threads
/// (PTX, cp.async), of copies of 16 bytes and of tensor and bulk copies (PTX,
/// cp.async.bulk), and of rows that a warp copies by lines.
inline constexpr int64_t kAsyncRowBytes = 4, kBulkRowBytes = 16,
                         kLineRowBytes = 128;

} // namespace nm

#endif // NM_GPU_STAGE_ROWBYTES_H
