// The shim as a program of its own, for tests.
#include "backends/local/shim_main.h"

int main(int argc, char** argv) { return gridfold::local::shim_main(argc, argv); }
