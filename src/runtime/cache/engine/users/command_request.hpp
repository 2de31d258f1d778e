// A call as access control sees it: the command, its keys, and its channels.
#pragma once

#include <boost/container/small_vector.hpp>
#include <span>
#include <string_view>

#include "runtime/cache/engine/command_info.hpp"

namespace strata::runtime::cache {

/// The words must outlive it.
class command_request {
 public:
  command_request(const cache::command& called, std::span<const std::string_view> texts);

  const cache::command& command;
  std::span<const std::string_view> words;
  key_accesses keys;
  boost::container::small_vector<std::size_t, 4> channels;  ///< positions among the words
  bool names_patterns = false;                              ///< the channels are patterns
};

}  // namespace strata::runtime::cache
