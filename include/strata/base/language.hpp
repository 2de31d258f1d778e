// Checks the language version that the headers need: one sentence instead of a page of errors.
#pragma once

#if __cplusplus <= 202002L
#error "strata needs C++23: compile with -std=c++23"
#endif
