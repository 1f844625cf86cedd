// RUN: nm-opt %s --nm-export-functions | FileCheck %s

// CHECK: func.func @public(%{{.*}}: memref<4xf32>) attributes {llvm.emit_c_interface}
func.func @public(%a: memref<4xf32> {nm.values_of = 0 : i64}) {
  return
}

// CHECK: func.func private @private(%{{.*}}: memref<4xf32>) {
func.func private @private(%a: memref<4xf32>) {
  return
}

// CHECK: func.func private @declared(memref<4xf32>){{$}}
func.func private @declared(memref<4xf32>)
