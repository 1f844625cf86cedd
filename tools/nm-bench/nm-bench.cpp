//===- nm-bench.cpp - Times compiled products beside a BLAS ---------------===//

#include "nm/Bench/BenchMain.h"

int main(int argc, char **argv) { return nm::benchMain(argc, argv); }
