// RUN: nm-opt %s --nm-approximate-math | FileCheck %s
// RUN: nm-opt %s --nm-approximate-math=has-exp2 | FileCheck %s --check-prefix=GPU

// CHECK-LABEL: func.func @f32(
// CHECK-NOT:     math.{{erf|exp |tanh}}
// CHECK:         math.fma
// CHECK:         return
func.func @f32(%x: f32) -> f32 {
  %0 = math.erf %x : f32
  %1 = math.exp %0 : f32
  %2 = math.tanh %1 : f32
  return %2 : f32
}

// erf has no division and no choice, and passes NaN on.
// CHECK-LABEL: func.func @erf(
// CHECK-SAME:    %[[X:.*]]: vector<8xf32>
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : vector<8xf32>
// CHECK:         %[[S:.*]] = math.fma %[[SQUARE]], %
// CHECK:         arith.minimumf %[[S]], %
// CHECK-COUNT-15: math.fma
// CHECK:         arith.maximumf
// CHECK:         arith.minimumf
// CHECK-NOT:     arith.{{divf|select|cmpf}}
// CHECK:         return
func.func @erf(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.erf %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// GELU is taken whole: what erf takes is not scaled, and what it gives is not
// added to 1.
// CHECK-LABEL: func.func @gelu(
// CHECK-SAME:    %[[X:.*]]: f32, %[[GATE:.*]]: f32
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK:         math.fma %[[SQUARE]], %
// CHECK-COUNT-15: math.fma
// CHECK-NOT:     arith.addf
// CHECK:         %[[GELU:.*]] = math.fma %[[X]], %
// CHECK:         arith.mulf %[[GELU]], %[[GATE]]
//
// By a power of two: -min(|x|, 7.9) 2^p + (x - min(x, 0)).
// GPU-LABEL:   func.func @gelu(
// GPU-SAME:      %[[X:.*]]: f32, %[[GATE:.*]]: f32
// GPU:           %[[BITS:.*]] = arith.bitcast %[[X]] : f32 to i32
// GPU:           %[[REST:.*]] = arith.andi %[[BITS]], %
// GPU:           %[[ABS:.*]] = arith.bitcast %[[REST]] : i32 to f32
// GPU:           %[[MIN:.*]] = arith.minimumf %[[ABS]], %
// GPU-COUNT-7:   llvm.intr.fma(%{{.*}}, %[[MIN]], %
// GPU:           %[[POWER:.*]] = llvm.inline_asm "ex2.approx.ftz.f32 $0, $1;"
// GPU-NOT:       intr.fma
// GPU:           %[[NEGATIVE:.*]] = arith.minimumf %[[X]], %
// GPU:           %[[POSITIVE:.*]] = arith.subf %[[X]], %[[NEGATIVE]]
// GPU:           %[[MINUS:.*]] = arith.negf %[[MIN]]
// GPU:           %[[GELU:.*]] = llvm.intr.fma(%[[MINUS]], %[[POWER]], %[[POSITIVE]])
// GPU-NEXT:      arith.mulf %[[GELU]], %[[GATE]]
func.func @gelu(%x: f32, %gate: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %rsqrt2 = arith.constant 0.707106769 : f32
  %scaled = arith.mulf %x, %rsqrt2 : f32
  %erf = math.erf %scaled : f32
  %weight = arith.addf %one, %erf : f32
  %halved = arith.mulf %x, %half : f32
  %y = arith.mulf %halved, %weight : f32
  %gated = arith.mulf %y, %gate : f32
  return %gated : f32
}

// Not of the same x, so not GELU.
// GPU-LABEL:   func.func @other(
// GPU-NOT:       ex2
// GPU:           arith.addf
// GPU:           return
func.func @other(%x: f32, %z: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %erf = math.erf %z : f32
  %weight = arith.addf %one, %erf : f32
  %y = arith.mulf %x, %weight : f32
  return %y : f32
}

// GELU's tanh form and SiLU take a power of two and a reciprocal of each
// element, and no division.
// GPU-LABEL:   func.func @tanh(
// GPU-COUNT-2:   ex2.approx
// GPU-COUNT-2:   nvvm.rcp.approx.ftz.f
// GPU-NOT:       divf
// GPU:           return
func.func @tanh(%x: vector<2xf32>, %z: vector<2xf32>) -> vector<2xf32> {
  %half = arith.constant dense<0.5> : vector<2xf32>
  %one = arith.constant dense<1.0> : vector<2xf32>
  %tanh = math.tanh %z : vector<2xf32>
  %weight = arith.addf %tanh, %one : vector<2xf32>
  %halved = arith.mulf %x, %half : vector<2xf32>
  %y = arith.mulf %weight, %halved : vector<2xf32>
  return %y : vector<2xf32>
}

// GPU-LABEL:   func.func @silu(
// GPU-SAME:      %[[X:.*]]: f32
// GPU:           ex2.approx
// GPU:           %[[SIGMOID:.*]] = nvvm.rcp.approx.ftz.f
// GPU-NEXT:      arith.mulf %[[X]], %[[SIGMOID]]
func.func @silu(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %minus = arith.negf %x : f32
  %exp = math.exp %minus : f32
  %sum = arith.addf %one, %exp : f32
  %y = arith.divf %x, %sum : f32
  return %y : f32
}

// f16 is computed in f32.
// CHECK-LABEL: func.func @f16(
// CHECK:         arith.extf {{.*}} : f16 to f32
// CHECK-NOT:     math.tanh
// CHECK:         arith.truncf {{.*}} : f32 to f16
func.func @f16(%x: f16) -> f16 {
  %0 = math.tanh %x : f16
  return %0 : f16
}

// The reference, in f64, is to be accurate rather than fast.
// CHECK-LABEL: func.func @f64(
// CHECK:         math.erf
func.func @f64(%x: f64) -> f64 {
  %0 = math.erf %x : f64
  return %0 : f64
}

// A GPU has functions of scalars alone.
// GPU-LABEL: func.func @vectors(
// GPU-NOT:   math.
// GPU:       return
func.func @vectors(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.exp %x : vector<4xf32>
  %1 = math.fma %0, %x, %x : vector<4xf32>
  return %1 : vector<4xf32>
}

// Sines and cosines count turns in f64, so that large angles keep their digits.
// CHECK-LABEL: func.func @sine(
// CHECK-SAME:    %[[X:.*]]: vector<8xf32>
// CHECK:         %[[WIDE:.*]] = arith.extf %[[X]] : vector<8xf32> to vector<8xf64>
// CHECK-COUNT-7: math.roundeven %{{.*}} : vector<8xf64>
// CHECK-NOT:     math.{{sin|cos}}
// CHECK:         return
// GPU-LABEL:   func.func @sine(
// GPU-COUNT-7:   llvm.call_intrinsic "llvm.roundeven"(%{{.*}}) : (f64) -> f64
func.func @sine(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.sin %x : vector<8xf32>
  %1 = math.cos %0 : vector<8xf32>
  return %1 : vector<8xf32>
}

// A subnormal number is scaled by 2^24 before its logarithm is taken.
// CHECK-LABEL: func.func @logarithm(
// CHECK-SAME:    %[[X:.*]]: f32
// CHECK:         %[[SMALL:.*]] = arith.cmpf olt, %[[X]], %
// CHECK:         %[[SCALED:.*]] = arith.mulf %[[X]], %
// CHECK:         arith.select %[[SMALL]], %[[SCALED]], %[[X]] : f32
// CHECK:         return
func.func @logarithm(%x: f32) -> f32 {
  %0 = math.log %x : f32
  return %0 : f32
}

// exp is a power of two there, and what its exponent is rounded by a factor.
// GPU-LABEL:   func.func @exponential(
// GPU-SAME:      %[[X:.*]]: f32
// GPU:           %[[LEAST:.*]] = arith.maximumf %[[X]], %
// GPU:           %[[IN:.*]] = arith.minimumf %[[LEAST]], %
// GPU:           %[[PRODUCT:.*]] = arith.mulf %[[IN]], %
// GPU:           %[[NEGATED:.*]] = arith.negf %[[PRODUCT]]
// GPU:           %[[REST:.*]] = llvm.intr.fma(%[[IN]], %{{.*}}, %[[NEGATED]])
// GPU:           %[[ALL:.*]] = llvm.intr.fma(%[[IN]], %{{.*}}, %[[REST]])
// GPU:           %[[FACTOR:.*]] = llvm.intr.fma(%[[ALL]], %
// GPU:           %[[POWER:.*]] = llvm.inline_asm "ex2.approx.ftz.f32 $0, $1;", "=f,f" %[[PRODUCT]]
// GPU:           arith.mulf %[[POWER]], %[[FACTOR]]
func.func @exponential(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}

// Quotients by one divisor are products with one reciprocal.
// GPU-LABEL:   func.func @quotients(
// GPU-SAME:      %[[X:.*]]: vector<8xf32>, %[[BY:.*]]: f32
// GPU-COUNT-1:   arith.divf %{{.*}} : f32
// GPU-COUNT-2:   arith.mulf %{{.*}} : vector<8xf32>
// GPU-NOT:       arith.divf
// GPU:           return
// CHECK-LABEL: func.func @quotients(
// CHECK:         arith.divf %{{.*}} : vector<8xf32>
func.func @quotients(%x: vector<8xf32>, %by: f32) -> vector<8xf32> {
  %all = vector.broadcast %by : f32 to vector<8xf32>
  %0 = arith.divf %x, %all : vector<8xf32>
  return %0 : vector<8xf32>
}
