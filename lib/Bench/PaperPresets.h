//===- PaperPresets.h - The problems of published work ----------*- C++ -*-===//

#ifndef NM_LIB_BENCH_PAPERPRESETS_H
#define NM_LIB_BENCH_PAPERPRESETS_H

#include "BenchCase.h"

#include <utility>
#include <vector>

namespace nm {

/// k x n of the layers that nmSPARSE measures.
const std::vector<std::pair<int64_t, int64_t>> &nmsparseLayers();

/// nmSPARSE (MLSys 2023): its eight layers with 1, 256, 1024 and 4096 rows,
/// which it numbers M1 to M32.
std::vector<BenchCase> nmsparseCases();
/// nmSPARSE's layers with 256, 1024 and 4096 rows in i8: 24 shapes, in squares
/// and vectors of 64 columns and in vectors of 32.
std::vector<BenchCase> nmsparseByteCases();
/// The products of a layer of BERT-large by granularity, for one question of
/// 384 tokens and for eight, in f32 and f16.
std::vector<BenchCase> bertLargeCases();
/// NM-SpMM (IPDPS 2025): its sizes A to F, and a hundred points of Llama's
/// layers.
std::vector<BenchCase> nmSpmmCases();
/// A study of 2:4 on an RTX 4070: cubes of 64 to 8192.
std::vector<BenchCase> studyCases();
/// SparseRT (PACT 2020): its 1x1 convolutions and layers as plain products,
/// with weights that are loaded and with constant ones.
std::vector<BenchCase> sparsertCases();
/// SparseRT's products for 32 images or texts at once.
std::vector<BenchCase> sparsertBatchCases();

} // namespace nm

#endif // NM_LIB_BENCH_PAPERPRESETS_H
