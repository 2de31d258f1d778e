// A cache's figures of its keys, in addition to those of every runtime.
#pragma once

#include <vector>

#include "options/figure_table.hpp"

namespace strata::runtime::cache {

class keyspace;

/// The keyspace's own counters are only for its thread. Here a shard publishes them for all
/// threads.
struct key_figures {
  options::counter keys;
  options::counter hits;
  options::counter misses;
  options::counter expired;
  options::counter evicted;
  options::counter memory;
  options::counter disk_fails;

  void copy_from(keyspace& data);
};

[[nodiscard]] const std::vector<options::bound_figure<key_figures>>& key_figure_table();

}  // namespace strata::runtime::cache
