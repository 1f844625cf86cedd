// RUN: nm-opt %s --split-input-file --convert-linalg-to-nm=dense-products=true | FileCheck %s

// A product's body is taken whole: multiply and add, of operands that are
// extended first. Any other stays as it is written, of dense operands.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#product = {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}

// CHECK-LABEL: func @swapped
// CHECK: nm.spmm
// CHECK-NOT: linalg.generic
func.func @swapped(%x: tensor<5x12xf32>, %w: tensor<12x8xf32>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xf32>, tensor<12x8xf32>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %b, %a : f32
    %y = arith.addf %p, %s : f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// CHECK-LABEL: func @fused_multiply_add
// CHECK: nm.spmm
// CHECK-NOT: linalg.generic
func.func @fused_multiply_add(%x: tensor<5x12xf16>, %w: tensor<12x8xf16>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xf16>, tensor<12x8xf16>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %a32 = arith.extf %a : f16 to f32
    %b32 = arith.extf %b : f16 to f32
    %y = math.fma %b32, %a32, %s : f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// Rounded to the nearest, as products of nm are.

// CHECK-LABEL: func @rounded_sums
// CHECK: nm.spmm
// CHECK-NOT: linalg.generic
func.func @rounded_sums(%x: tensor<5x12xbf16>, %w: tensor<12x8xbf16>, %o: tensor<5x8xbf16>) -> tensor<5x8xbf16> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xbf16>, tensor<12x8xbf16>) outs(%o : tensor<5x8xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %s: bf16):
    %a32 = arith.extf %a : bf16 to f32
    %b32 = arith.extf %b : bf16 to f32
    %s32 = arith.extf %s : bf16 to f32
    %p = arith.mulf %a32, %b32 : f32
    %y32 = arith.addf %s32, %p : f32
    %y = arith.truncf %y32 to_nearest_even : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<5x8xbf16>
  return %r : tensor<5x8xbf16>
}

// Products of 8 bits have no more than 16.

// CHECK-LABEL: func @products_of_16_bits
// CHECK: nm.spmm
// CHECK-NOT: linalg.generic
func.func @products_of_16_bits(%x: tensor<5x12xi8>, %w: tensor<12x8xi8>, %o: tensor<5x8xi32>) -> tensor<5x8xi32> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xi8>, tensor<12x8xi8>) outs(%o : tensor<5x8xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %a16 = arith.extsi %a : i8 to i16
    %b16 = arith.extsi %b : i8 to i16
    %p = arith.muli %a16, %b16 : i16
    %p32 = arith.extsi %p : i16 to i32
    %y = arith.addi %s, %p32 : i32
    linalg.yield %y : i32
  } -> tensor<5x8xi32>
  return %r : tensor<5x8xi32>
}

// CHECK-LABEL: func @tanh_of_an_operand
// CHECK-NOT: nm.spmm
// CHECK: math.tanh
func.func @tanh_of_an_operand(%x: tensor<5x12xf32>, %w: tensor<12x8xf32>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xf32>, tensor<12x8xf32>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = math.tanh %a : f32
    %p = arith.mulf %t, %b : f32
    %y = arith.addf %s, %p : f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// CHECK-LABEL: func @exp_of_the_sum
// CHECK-NOT: nm.spmm
// CHECK: math.exp
func.func @exp_of_the_sum(%x: tensor<5x12xf32>, %w: tensor<12x8xf32>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xf32>, tensor<12x8xf32>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    %y = math.exp %q : f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// CHECK-LABEL: func @rounded_operand
// CHECK-NOT: nm.spmm
// CHECK: arith.truncf
func.func @rounded_operand(%x: tensor<5x12xf32>, %w: tensor<12x8xf32>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xf32>, tensor<12x8xf32>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %a16 = arith.truncf %a : f32 to f16
    %a32 = arith.extf %a16 : f16 to f32
    %p = arith.mulf %a32, %b : f32
    %y = arith.addf %s, %p : f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// CHECK-LABEL: func @rounded_upwards
// CHECK-NOT: nm.spmm
// CHECK: arith.truncf {{.*}} upward
func.func @rounded_upwards(%x: tensor<5x12xf16>, %w: tensor<12x8xf16>, %o: tensor<5x8xf16>) -> tensor<5x8xf16> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xf16>, tensor<12x8xf16>) outs(%o : tensor<5x8xf16>) {
  ^bb0(%a: f16, %b: f16, %s: f16):
    %a32 = arith.extf %a : f16 to f32
    %b32 = arith.extf %b : f16 to f32
    %s32 = arith.extf %s : f16 to f32
    %p = arith.mulf %a32, %b32 : f32
    %y32 = arith.addf %s32, %p : f32
    %y = arith.truncf %y32 upward : f32 to f16
    linalg.yield %y : f16
  } -> tensor<5x8xf16>
  return %r : tensor<5x8xf16>
}

// Wider sums than nm's would lose digits.

// CHECK-LABEL: func @sums_of_f64
// CHECK-NOT: nm.spmm
// CHECK: arith.addf {{.*}} : f64
func.func @sums_of_f64(%x: tensor<5x12xf32>, %w: tensor<12x8xf32>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xf32>, tensor<12x8xf32>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %a64 = arith.extf %a : f32 to f64
    %b64 = arith.extf %b : f32 to f64
    %s64 = arith.extf %s : f32 to f64
    %p = arith.mulf %a64, %b64 : f64
    %y64 = arith.addf %s64, %p : f64
    %y = arith.truncf %y64 : f64 to f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// 300 * 300 is infinity in f16.

// CHECK-LABEL: func @rounded_products
// CHECK-NOT: nm.spmm
// CHECK: arith.mulf {{.*}} : f16
func.func @rounded_products(%x: tensor<5x12xf16>, %w: tensor<12x8xf16>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xf16>, tensor<12x8xf16>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %p = arith.mulf %a, %b : f16
    %p32 = arith.extf %p : f16 to f32
    %y = arith.addf %s, %p32 : f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// 16 * 16 is 0 in i8.

// CHECK-LABEL: func @products_that_wrap
// CHECK-NOT: nm.spmm
// CHECK: arith.muli {{.*}} : i8
func.func @products_that_wrap(%x: tensor<5x12xi8>, %w: tensor<12x8xi8>, %o: tensor<5x8xi32>) -> tensor<5x8xi32> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xi8>, tensor<12x8xi8>) outs(%o : tensor<5x8xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %p = arith.muli %a, %b : i8
    %p32 = arith.extsi %p : i8 to i32
    %y = arith.addi %s, %p32 : i32
    linalg.yield %y : i32
  } -> tensor<5x8xi32>
  return %r : tensor<5x8xi32>
}

// Upstream takes this for a contraction.

// CHECK-LABEL: func @bits
// CHECK-NOT: nm.spmm
// CHECK: arith.andi
func.func @bits(%x: tensor<5x12xi8>, %w: tensor<12x8xi8>, %o: tensor<5x8xi32>) -> tensor<5x8xi32> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xi8>, tensor<12x8xi8>) outs(%o : tensor<5x8xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %a32 = arith.extsi %a : i8 to i32
    %b32 = arith.extsi %b : i8 to i32
    %p = arith.andi %a32, %b32 : i32
    %y = arith.ori %s, %p : i32
    linalg.yield %y : i32
  } -> tensor<5x8xi32>
  return %r : tensor<5x8xi32>
}

// CHECK-LABEL: func @square
// CHECK-NOT: nm.spmm
// CHECK: arith.mulf %[[A:.*]], %[[A]]
func.func @square(%x: tensor<5x12xf32>, %w: tensor<12x8xf32>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xf32>, tensor<12x8xf32>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %a : f32
    %y = arith.addf %s, %p : f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}
