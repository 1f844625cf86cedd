// RUN: nm-opt %s --convert-nm-to-sparse-tensor | FileCheck %s
// Upstream's sparsifier takes it, and what it makes runs without nm: rows of ones
// and of twos by the weights 1 to 12. Of levels that are not in the order of
// dimensions, as for dim = 0, it does not take constants.
// RUN: nm-opt %s --convert-nm-to-sparse-tensor --symbol-privatize=exclude=main --symbol-dce --sparsifier \
// RUN:   | mlir-runner -e main --entry-point-result=void --shared-libs=%mlir_lib_dir/libmlir_runner_utils.so,%mlir_lib_dir/libmlir_c_runner_utils.so \
// RUN:   | FileCheck %s --check-prefix=VALUES

// CHECK-DAG: #[[$first:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 floordiv 4 : dense, d0 mod 4 : structured[2, 4]) }>
// CHECK-DAG: #[[$second:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 floordiv 16 : dense, d1 mod 16 : structured[4, 16]) }>
// CHECK-DAG: #[[$third:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 floordiv 4 : dense, d1 mod 4 : structured[2, 4]) }>

// CHECK: func.func private @types(tensor<64x48xf32, #[[$first]]>, tensor<48x64xf16, #[[$second]]>)
func.func private @types(tensor<64x48xf32, #nm.encoding<2:4>>,
                         tensor<48x64xf16, #nm.encoding<4:16, dim = 1>>)

// CHECK-LABEL: func.func @parts
// CHECK: %[[dense:.*]] = nm.decompress <2:4>
// CHECK: %[[w:.*]] = sparse_tensor.convert %[[dense]] : tensor<64x48xf32> to tensor<64x48xf32, #[[$first]]>
// CHECK: %[[again:.*]] = sparse_tensor.convert %[[w]] : tensor<64x48xf32, #[[$first]]> to tensor<64x48xf32>
// CHECK: nm.compress <2:4> ins(%[[again]] : tensor<64x48xf32>)
func.func @parts(%v: tensor<32x48xf32>, %i: tensor<32x48xi8>) -> (tensor<32x48xf32>, tensor<32x48xi8>) {
  %w = nm.assemble %v, %i : tensor<32x48xf32>, tensor<32x48xi8> -> tensor<64x48xf32, #nm.encoding<2:4>>
  %v1, %i1 = nm.disassemble %w : tensor<64x48xf32, #nm.encoding<2:4>> -> tensor<32x48xf32>, tensor<32x48xi8>
  return %v1, %i1 : tensor<32x48xf32>, tensor<32x48xi8>
}

func.func private @printMemrefF32(tensor<*xf32>)

// CHECK-LABEL: func.func @main
// CHECK: %[[dense:.*]] = arith.constant dense<{{.*}}> : tensor<3x8xf32>
// CHECK: %[[w:.*]] = sparse_tensor.convert %[[dense]] : tensor<3x8xf32> to tensor<3x8xf32, #[[$third]]>
// CHECK: linalg.matmul {{.*}} ins(%{{.*}}, %[[w]] : tensor<2x8xf32>, tensor<3x8xf32, #[[$third]]>)
// VALUES: rank = 2 offset = 0 sizes = [2, 3]
// VALUES: [22, 26, 30]
// VALUES: [44, 52, 60]
func.func @main() {
  %a = arith.constant dense<[[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
                             [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]]> : tensor<2x8xf32>
  %w = arith.constant dense<[[1.0, 0.0, 0.0, 4.0, 7.0, 0.0, 0.0, 10.0],
                             [2.0, 0.0, 0.0, 5.0, 8.0, 0.0, 0.0, 11.0],
                             [3.0, 0.0, 0.0, 6.0, 9.0, 0.0, 0.0, 12.0]]>
    : tensor<3x8xf32, #nm.encoding<2:4, dim = 1>>
  %c = arith.constant dense<0.0> : tensor<2x3xf32>
  %r = linalg.matmul
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                     affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %w : tensor<2x8xf32>, tensor<3x8xf32, #nm.encoding<2:4, dim = 1>>)
    outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>
  %u = tensor.cast %r : tensor<2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}
