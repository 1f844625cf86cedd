include "nm/Dialect/NM/IR/NMOps.td"

def Test_ScheduleAttr : NM_ScheduleAttr<"Test", "test"> {
  let parameters = (ins NM_BlockSizes:$block, NM_CountUnless<7>:$stages);
}
