// The parts of a specification, in the order in which they build on each other. What is wrong is
// thrown, as a `spec_flaw`.
#pragma once

#include <cstddef>

#include "cli/nl_spec.hpp"
#include "cli/nl_spec_node.hpp"

namespace strata::cli {

/// How much is read in all: aliases make much of a small file.
class spec_budget {
 public:
  void spend(const spec_node& on) {
    if (left_-- == 0) on.refuse("it holds more than 50000 attributes, entries and operations");
  }

 private:
  std::size_t left_ = 50'000;
};

void read_enums(const spec_node& root, spec_budget& budget, nl_spec& to);
void read_sets(const spec_node& root, spec_budget& budget, nl_spec& to);
void read_operations(const spec_node& root, spec_budget& budget, nl_spec& to);

}  // namespace strata::cli
