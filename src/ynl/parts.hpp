// The parts of a specification, in the order in which they build on each other. A fault is thrown,
// as a `flaw`.
#pragma once

#include <cstddef>

#include "ynl/node.hpp"
#include "ynl/spec.hpp"

namespace strata::ynl {

/// A limit for how much is read in all: aliases make much of a small file.
class budget {
 public:
  void spend(const node& node) {
    if (left_-- == 0) node.refuse("it has more than 50000 attributes, entries and operations");
  }

 private:
  std::size_t left_ = 50'000;
};

void read_definitions(const node& root, budget& budget, spec& spec);
void read_sets(const node& root, budget& budget, spec& spec);
void read_operations(const node& root, budget& budget, spec& spec);

}  // namespace strata::ynl
