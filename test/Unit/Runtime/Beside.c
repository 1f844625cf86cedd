/* What a module needs of a library that lies in a folder beside it. */

__attribute__((visibility("default"))) int beside(void) { return 5; }
