// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>/dev/null

// (C5).
func.func @f(%a: tensor<5x64xf16>, %v: tensor<32x48xf16>, %i: tensor<32x48xi8>, %c: tensor<5x48xf32>) {
  // expected-error @+1 {{expected f32 operands for arithmetic ieee, but got 'f16'}}
  %r = nm.spmm <2:4> arithmetic <ieee> ins(%a, %v, %i : tensor<5x64xf16>, tensor<32x48xf16>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return
}

// -----

func.func @f(%a: tensor<5x64xf16>, %v: tensor<32x48xf16>, %i: tensor<32x48xi8>, %c: tensor<5x48xf32>) {
  // expected-error @+1 {{expected f8E4M3FN or f8E5M2 operands for arithmetic fast_accum, but got 'f16'}}
  %r = nm.spmm <2:4> arithmetic <fast_accum> ins(%a, %v, %i : tensor<5x64xf16>, tensor<32x48xf16>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return
}

// -----

// (E1): too few arguments.
func.func @f(%a: tensor<5x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<5x48xf32>, %b: tensor<48xf32>) {
  // expected-error @+1 {{expected the epilogue to take 2 arguments, the sum and an element of each operand, but got 1}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
    epilogue ins(%b : tensor<48xf32>) maps [affine_map<(m, n) -> (n)>] {
    ^bb0(%s: f32):
      nm.yield %s : f32
    }
  return
}

// -----

// (E1): the sum is in the accumulator type.
func.func @f(%a: tensor<5x64xf16>, %v: tensor<32x48xf16>, %i: tensor<32x48xi8>, %c: tensor<5x48xf16>) {
  // expected-error @+1 {{expected argument 0 of the epilogue to be 'f32', but got 'f16'}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf16>, tensor<32x48xf16>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf16>) -> tensor<5x48xf16>
    epilogue {
    ^bb0(%s: f16):
      nm.yield %s : f16
    }
  return
}

// -----

// (E2): a map for each operand.
func.func @f(%a: tensor<5x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<5x48xf32>, %b: tensor<48xf32>) {
  // expected-error @+1 {{expected a map for each of the 1 epilogue operands, but got 0}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
    epilogue ins(%b : tensor<48xf32>) maps [] {
    ^bb0(%s: f32, %x: f32):
      nm.yield %s : f32
    }
  return
}

// -----

// (E2): no arithmetic in maps.
func.func @f(%a: tensor<5x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<5x48xf32>, %b: tensor<48xf32>) {
  // expected-error @+1 {{expected the map of epilogue operand 0 to take the 2 dimensions (batch..., m, n) to distinct ones of them, but got affine_map<(d0, d1) -> (d0 + d1)>}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
    epilogue ins(%b : tensor<48xf32>) maps [affine_map<(m, n) -> (m + n)>] {
    ^bb0(%s: f32, %x: f32):
      nm.yield %s : f32
    }
  return
}

// -----

// (E2): as many dimensions as results.
func.func @f(%a: tensor<5x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<5x48xf32>, %b: tensor<48xf32>) {
  // expected-error @+1 {{expected epilogue operand 0 to have rank 2, as its map affine_map<(d0, d1) -> (d0, d1)> says, but got 'tensor<48xf32>'}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
    epilogue ins(%b : tensor<48xf32>) maps [affine_map<(m, n) -> (m, n)>] {
    ^bb0(%s: f32, %x: f32):
      nm.yield %s : f32
    }
  return
}

// -----

// (E2): sizes of C.
func.func @f(%a: tensor<5x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<5x48xf32>, %b: tensor<47xf32>) {
  // expected-error @+1 {{expected size of dim 0 of epilogue operand 0 to be 48, but got 47}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
    epilogue ins(%b : tensor<47xf32>) maps [affine_map<(m, n) -> (n)>] {
    ^bb0(%s: f32, %x: f32):
      nm.yield %s : f32
    }
  return
}

// -----

// (E3): the type that is yielded.
func.func @f(%a: tensor<5x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<5x48xf16>) {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf16>) -> tensor<5x48xf16>
    epilogue {
    ^bb0(%s: f32):
      // expected-error @+1 {{expected a value of C's element type 'f16', but got 'f32'}}
      nm.yield %s : f32
    }
  return
}

// -----

// (E3): side effects.
func.func @f(%a: tensor<5x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<5x48xf32>) {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
    epilogue {
    ^bb0(%s: f32):
      // expected-error @+1 {{has no place in an epilogue, which takes constants and elementwise scalar ops without side effects}}
      func.call @g() : () -> ()
      nm.yield %s : f32
    }
  return
}

// -----

// (E3): scalars.
func.func @f(%a: tensor<5x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<5x48xf32>) {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
    epilogue {
    ^bb0(%s: f32):
      // expected-error @+1 {{has no place in an epilogue}}
      %x = arith.constant dense<0.0> : vector<2xf32>
      nm.yield %s : f32
    }
  return
}

// -----

// (C2): without an epilogue C is not narrower than the operands.
func.func @f(%a: tensor<5x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<5x48xf16>) {
  // expected-error @+1 {{expected C to have element type 'f32', but got 'f16'}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf16>) -> tensor<5x48xf16>
  return
}

// -----

// A linalg op's arithmetic.
func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{expected nm.arithmetic to be an #nm.arithmetic, but got "tf32"}}
  %r = linalg.matmul {nm.arithmetic = "tf32"} ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>)
    outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// (E3): no value from outside.
func.func @f(%x: tensor<64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %y: tensor<48xf32>, %k: f32) {
  // expected-note @+1 {{required by region isolation constraints}}
  %r = nm.spmv <2:4> ins(%x, %v, %i : tensor<64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%y : tensor<48xf32>) -> tensor<48xf32> epilogue {
    ^bb0(%s: f32):
      // expected-error @+1 {{using value defined outside the region}}
      %z = arith.addf %s, %k : f32
      nm.yield %z : f32
    }
  return
}
