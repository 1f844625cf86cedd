// RUN: nm-opt %s --nm-split-edges --split-input-file | FileCheck %s

// A block between for each further way to a block with arguments, in the order
// of the switch, however many blocks come twice.
// CHECK-LABEL: @switch
// CHECK: llvm.switch %{{.*}} : i32, ^[[A:bb[0-9]+]](%[[X:.*]] : f32) [
// CHECK-NEXT: 0: ^[[B:bb[0-9]+]](%[[X]] : f32),
// CHECK-NEXT: 1: ^[[B2:bb[0-9]+]](%[[Y:.*]] : f32),
// CHECK-NEXT: 2: ^[[A2:bb[0-9]+]](%[[Y]] : f32),
// CHECK-NEXT: 3: ^[[C:bb[0-9]+]],
// CHECK-NEXT: 4: ^[[C]],
// CHECK-NEXT: 5: ^[[B3:bb[0-9]+]](%[[X]] : f32)
// CHECK: ^[[A]](
// CHECK: ^[[B]](
// CHECK: ^[[C]]:
// CHECK: ^[[B2]](%[[P:.*]]: f32):
// CHECK-NEXT: llvm.br ^[[B]](%[[P]] : f32)
// CHECK: ^[[A2]](%[[Q:.*]]: f32):
// CHECK-NEXT: llvm.br ^[[A]](%[[Q]] : f32)
// CHECK: ^[[B3]](%[[R:.*]]: f32):
// CHECK-NEXT: llvm.br ^[[B]](%[[R]] : f32)
llvm.func @switch(%i: i32, %x: f32, %y: f32) -> f32 {
  llvm.switch %i : i32, ^bb1(%x : f32) [
    0: ^bb2(%x : f32),
    1: ^bb2(%y : f32),
    2: ^bb1(%y : f32),
    3: ^bb3,
    4: ^bb3,
    5: ^bb2(%x : f32)
  ]
^bb1(%0: f32):
  %1 = llvm.fadd %0, %x : f32
  llvm.return %1 : f32
^bb2(%2: f32):
  %3 = llvm.fmul %2, %y : f32
  llvm.return %3 : f32
^bb3:
  llvm.return %x : f32
}

// -----

// Neither way of this one comes twice.
// CHECK-LABEL: @branch
// CHECK: llvm.cond_br %{{.*}}, ^bb1(%{{.*}} : f32), ^bb2
// CHECK-NOT: llvm.br
llvm.func @branch(%c: i1, %x: f32) -> f32 {
  llvm.cond_br %c, ^bb1(%x : f32), ^bb2
^bb1(%0: f32):
  llvm.return %0 : f32
^bb2:
  llvm.return %x : f32
}
