//===- nm-run.cpp - Runs a function of a compiled module ------------------===//

#include "nm/Run/RunMain.h"

int main(int argc, char **argv) { return nm::runMain(argc, argv); }
