// RUN: nm-opt %s | nm-opt | FileCheck %s
// RUN: nm-opt %s --mlir-print-op-generic | nm-opt | FileCheck %s

// CHECK-DAG: #[[$N:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[$MN:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$SCALAR:.+]] = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: func.func @bias_relu_residual
func.func @bias_relu_residual(%a: tensor<?x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>,
                              %bias: tensor<48xf32>, %residual: tensor<?x48xbf16>, %scale: tensor<f32>,
                              %c: tensor<?x48xf16>) -> tensor<?x48xf16> {
  // CHECK: nm.spmm <2:4> arithmetic <tf32> ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>) outs(%{{.*}} : tensor<?x48xf16>) -> tensor<?x48xf16>
  // CHECK-SAME: epilogue ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<48xf32>, tensor<?x48xbf16>, tensor<f32>) maps [#[[$N]], #[[$MN]], #[[$SCALAR]]] {
  // CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[B:.*]]: f32, %[[R:.*]]: bf16, %[[S:.*]]: f32):
  // CHECK: arith.maximumf
  // CHECK: nm.yield %{{.*}} : f16
  // CHECK-NEXT: }
  %r = nm.spmm <2:4> arithmetic <tf32>
    ins(%a, %v, %i : tensor<?x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<?x48xf16>) -> tensor<?x48xf16>
    epilogue ins(%bias, %residual, %scale : tensor<48xf32>, tensor<?x48xbf16>, tensor<f32>)
             maps [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> ()>] {
    ^bb0(%sum: f32, %b: f32, %x: bf16, %s: f32):
      %zero = arith.constant 0.0 : f32
      %scaled = arith.mulf %sum, %s : f32
      %biased = arith.addf %scaled, %b : f32
      %relu = arith.maximumf %biased, %zero : f32
      %wide = arith.extf %x : bf16 to f32
      %all = arith.addf %relu, %wide : f32
      %y = arith.truncf %all : f32 to f16
      nm.yield %y : f16
    }
  return %r : tensor<?x48xf16>
}

// CHECK-LABEL: func.func @without_operands
func.func @without_operands(%x: memref<64xi8>, %v: memref<16x48xi8>, %i: memref<16x48xi8>, %y: memref<48xi8>) {
  // CHECK: nm.spmv <1:4> ins
  // CHECK-SAME: outs(%{{.*}} : memref<48xi8>) epilogue {
  // CHECK-NEXT: ^bb0(%{{.*}}: i32):
  nm.spmv <1:4> ins(%x, %v, %i : memref<64xi8>, memref<16x48xi8>, memref<16x48xi8>)
    outs(%y : memref<48xi8>)
    epilogue {
    ^bb0(%sum: i32):
      %r = arith.trunci %sum : i32 to i8
      nm.yield %r : i8
    }
  return
}

// CHECK-LABEL: func.func @arithmetic
func.func @arithmetic(%x: tensor<64xf32>, %v: tensor<16x48xf32>, %i: tensor<16x48xi8>, %y: tensor<48xf32>) {
  // The default is not printed.
  // CHECK: nm.spmv <1:4> ins
  %0 = nm.spmv <1:4> arithmetic <f32> ins(%x, %v, %i : tensor<64xf32>, tensor<16x48xf32>, tensor<16x48xi8>)
    outs(%y : tensor<48xf32>) -> tensor<48xf32>
  // CHECK: nm.spmv <1:4> arithmetic <ieee> ins
  %1 = nm.spmv <1:4> arithmetic <ieee> ins(%x, %v, %i : tensor<64xf32>, tensor<16x48xf32>, tensor<16x48xi8>)
    outs(%y : tensor<48xf32>) -> tensor<48xf32>
  // CHECK: nm.spmv <1:4> arithmetic <bf16x3> ins
  %2 = nm.spmv <1:4> arithmetic <bf16x3> ins(%x, %v, %i : tensor<64xf32>, tensor<16x48xf32>, tensor<16x48xi8>)
    outs(%y : tensor<48xf32>) -> tensor<48xf32>
  return
}
