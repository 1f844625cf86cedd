// RUN: nm-opt %s --nm-approximate-math | FileCheck %s

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

// GELU's function has no division and no choice, and passes NaN on.
// CHECK-LABEL: func.func @erf(
// CHECK-SAME:    %[[X:.*]]: vector<8xf32>
// CHECK:         %[[LOW:.*]] = arith.maximumf %[[X]], %{{.*}} : vector<8xf32>
// CHECK:         arith.minimumf %[[LOW]], %
// CHECK-COUNT-16: math.fma
// CHECK-NOT:     arith.{{divf|select|cmpf}}
// CHECK:         return
func.func @erf(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.erf %x : vector<8xf32>
  return %0 : vector<8xf32>
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
