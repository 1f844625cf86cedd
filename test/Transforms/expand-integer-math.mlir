// RUN: nm-opt %s --nm-expand-integer-math | FileCheck %s

// CHECK-LABEL: func.func @absolute(
// CHECK-SAME:    %[[X:.*]]: i32
// CHECK:         %[[NEGATED:.*]] = arith.subi %{{.*}}, %[[X]] : i32
// CHECK:         arith.maxsi %[[X]], %[[NEGATED]] : i32
func.func @absolute(%x: i32) -> i32 {
  %0 = math.absi %x : i32
  return %0 : i32
}

// Ones of an i8 are those of one byte, which no product sums.
// CHECK-LABEL: func.func @ones(
// CHECK-NOT:     math.ctpop
// CHECK-NOT:     arith.muli
// CHECK:         return
func.func @ones(%x: vector<4xi8>) -> vector<4xi8> {
  %0 = math.ctpop %x : vector<4xi8>
  return %0 : vector<4xi8>
}

// CHECK-LABEL: func.func @zeros(
// CHECK-NOT:     math.
// CHECK-COUNT-6: arith.ori
// CHECK:         arith.muli
// CHECK:         %[[SHIFT:.*]] = arith.constant 56 : i64
// CHECK:         arith.shrui %{{.*}}, %[[SHIFT]]
// CHECK-NOT:     arith.ori
// CHECK:         arith.muli
// CHECK:         return
func.func @zeros(%x: i64) -> (i64, i64) {
  %0 = math.ctlz %x : i64
  %1 = math.cttz %x : i64
  return %0, %1 : i64, i64
}

// CHECK-LABEL:   func.func @powers(
// CHECK-COUNT-2:   scf.while
// CHECK:           vector.from_elements
// CHECK:           arith.sitofp %{{.*}} : i32 to f32
// CHECK:           math.powf %{{.*}} : f32
// CHECK:           arith.truncf
func.func @powers(%x: vector<2xi32>, %n: vector<2xi32>, %y: f16, %m: i32)
    -> (vector<2xi32>, f16) {
  %0 = math.ipowi %x, %n : vector<2xi32>
  %1 = math.fpowi %y, %m : f16, i32
  return %0, %1 : vector<2xi32>, f16
}
