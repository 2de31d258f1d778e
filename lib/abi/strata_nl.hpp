// A connection of the C ABI, for all functions that use it.
#pragma once

#include <string>

#include "strata/nl/generic.hpp"
#include "strata/strata_nl.h"

struct strata_nl {
  strata::nl::generic within;
  strata::wire::netlink_writer request;
  bool has_request = false;
  std::uint16_t family = 0;  // of the request
  std::uint8_t command = 0;
  strata_nl_message message{};
  std::string failure_text;
  strata_nl_failure failure{0, 0, ""};
};
