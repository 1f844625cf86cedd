// RUN: nm-opt %s --convert-linalg-to-nm --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --convert-linalg-to-nm --split-input-file 2>/dev/null

// What a product's body has beside multiply and add is never dropped.

#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
func.func @negated_product(%x: tensor<5x12xf32>, %w: tensor<12x8xf32, #nm.encoding<2:4>>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  // expected-error @+1 {{to be the weight of a contraction: op is not a contraction (a sum of products of two operands): its body has 'arith.negf'}}
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xf32>, tensor<12x8xf32, #nm.encoding<2:4>>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.negf %p : f32
    %y = arith.addf %s, %q : f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// -----

#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
func.func @rounded_weight(%x: tensor<5x12xf32>, %w: tensor<12x8xf32, #nm.encoding<2:4>>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  // expected-error @+1 {{its body rounds or combines them in another way}}
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xf32>, tensor<12x8xf32, #nm.encoding<2:4>>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %b16 = arith.truncf %b : f32 to f16
    %b32 = arith.extf %b16 : f16 to f32
    %p = arith.mulf %a, %b32 : f32
    %y = arith.addf %s, %p : f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// -----

#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
func.func @rounded_products(%x: tensor<5x12xbf16>, %w: tensor<12x8xbf16, #nm.encoding<2:4>>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  // expected-error @+1 {{products are rounded to bf16 before they are added in f32: expected operands that are extended before they are multiplied}}
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xbf16>, tensor<12x8xbf16, #nm.encoding<2:4>>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %p = arith.mulf %a, %b : bf16
    %p32 = arith.extf %p : bf16 to f32
    %y = arith.addf %s, %p32 : f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// -----

#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
func.func @products_that_wrap(%x: tensor<5x12xi8>, %w: tensor<12x8xi8, #nm.encoding<2:4>>, %o: tensor<5x8xi32>) -> tensor<5x8xi32> {
  // expected-error @+1 {{products of i8 are extended to i32 after they have wrapped: expected operands that are extended before they are multiplied}}
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xi8>, tensor<12x8xi8, #nm.encoding<2:4>>) outs(%o : tensor<5x8xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %p = arith.muli %a, %b : i8
    %p32 = arith.extsi %p : i8 to i32
    %y = arith.addi %s, %p32 : i32
    linalg.yield %y : i32
  } -> tensor<5x8xi32>
  return %r : tensor<5x8xi32>
}

// -----

#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
func.func @sums_of_f64(%x: tensor<5x12xf32>, %w: tensor<12x8xf32, #nm.encoding<2:4>>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  // expected-error @+1 {{expected sums in f32, but got f64}}
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xf32>, tensor<12x8xf32, #nm.encoding<2:4>>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %a64 = arith.extf %a : f32 to f64
    %b64 = arith.extf %b : f32 to f64
    %s64 = arith.extf %s : f32 to f64
    %y64 = math.fma %a64, %b64, %s64 : f64
    %y = arith.truncf %y64 : f64 to f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}
