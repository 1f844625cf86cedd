// What --check has to compute as it is written, and no pass of a target's may change.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#product = {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
#id = affine_map<(i) -> (i)>
#diagonal = affine_map<(i) -> (i, i)>

func.func @tanh_of_operand(%x: tensor<5x12xf32>, %w: tensor<12x8xf32>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xf32>, tensor<12x8xf32>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = math.tanh %a : f32
    %p = arith.mulf %t, %b : f32
    %y = arith.addf %s, %p : f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

func.func @rounded_operand(%x: tensor<5x12xf32>, %w: tensor<12x8xf32>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xf32>, tensor<12x8xf32>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.truncf %a : f32 to bf16
    %u = arith.extf %t : bf16 to f32
    %p = arith.mulf %u, %b : f32
    %y = arith.addf %s, %p : f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

func.func @rounded_products(%x: tensor<5x12xf16>, %w: tensor<12x8xf16>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %r = linalg.generic #product ins(%x, %w : tensor<5x12xf16>, tensor<12x8xf16>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %p = arith.mulf %a, %b : f16
    %q = arith.extf %p : f16 to f32
    %y = arith.addf %s, %q : f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

func.func @rounded_tensors(%x: tensor<5x12xf32>) -> (tensor<5x12xf32>, tensor<5x12xf32>) {
  %a = arith.truncf %x : tensor<5x12xf32> to tensor<5x12xf16>
  %b = arith.extf %a : tensor<5x12xf16> to tensor<5x12xf32>
  %c = arith.truncf %x : tensor<5x12xf32> to tensor<5x12xf8E4M3FN>
  %d = arith.extf %c : tensor<5x12xf8E4M3FN> to tensor<5x12xf32>
  return %b, %d : tensor<5x12xf32>, tensor<5x12xf32>
}

func.func @every_second(%x: tensor<64xf32>) -> tensor<128xf32> {
  %z = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<128xf32>
  %o = linalg.fill ins(%z : f32) outs(%e : tensor<128xf32>) -> tensor<128xf32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i) -> (i * 2)>], iterator_types = ["parallel"]}
    ins(%x : tensor<64xf32>) outs(%o : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<128xf32>
  return %r : tensor<128xf32>
}

func.func @diagonal(%x: tensor<8x8xf32>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linalg.generic {indexing_maps = [#diagonal, #diagonal], iterator_types = ["parallel"]}
    ins(%x : tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
