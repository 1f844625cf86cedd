// RUN: nm-opt %s --nm-fuse-elementwise | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>

// What gathers is a part of its reader, which checks the indices: nothing else
// of it is left.
// CHECK-LABEL: func.func @gathered(
// CHECK-NOT:     nm.check_index
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x2x6xi64>, tensor<2x2x6xf32>)
// CHECK:           nm.check_index
// CHECK:           tensor.extract
// CHECK:           arith.addf
// CHECK-NOT:     linalg.generic
// CHECK-NOT:     nm.check_index
// CHECK:         return
func.func @gathered(%table: tensor<16xf32>, %places: tensor<4x6xi64>,
                    %y: tensor<4x6xf32>) -> tensor<2x2x6xf32> {
  %size = arith.constant 16 : index
  %e = tensor.empty() : tensor<4x6xf32>
  %x = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%places : tensor<4x6xi64>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%place: i64, %out: f32):
    %0 = arith.index_cast %place : i64 to index
    %1 = nm.check_index %0 in %size, "{0} {1}"
    %2 = tensor.extract %table[%1] : tensor<16xf32>
    linalg.yield %2 : f32
  } -> tensor<4x6xf32>
  %sum = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4x6xf32>
  %r = tensor.expand_shape %sum [[0, 1], [2]] output_shape [2, 2, 6]
      : tensor<4x6xf32> into tensor<2x2x6xf32>
  return %r : tensor<2x2x6xf32>
}

// What nothing has read is still checked.
// CHECK-LABEL: func.func @unread(
// CHECK:         nm.check_index
// CHECK:         return
func.func @unread(%table: tensor<16xf32>, %places: tensor<4x6xi64>) {
  %size = arith.constant 16 : index
  %e = tensor.empty() : tensor<4x6xf32>
  %x = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%places : tensor<4x6xi64>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%place: i64, %out: f32):
    %0 = arith.index_cast %place : i64 to index
    %1 = nm.check_index %0 in %size, "{0} {1}"
    %2 = tensor.extract %table[%1] : tensor<16xf32>
    linalg.yield %2 : f32
  } -> tensor<4x6xf32>
  return
}
