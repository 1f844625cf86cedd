// RUN: nm-opt %s --nm-protect-arguments | FileCheck %s

// CHECK: func.func @public(%{{.*}}: tensor<4xf32> {bufferization.writable = false}, %{{.*}}: index)
func.func @public(%a: tensor<4xf32>, %n: index) {
  return
}

// CHECK: func.func private @private(%{{.*}}: tensor<4xf32>)
func.func private @private(%a: tensor<4xf32>) {
  return
}
