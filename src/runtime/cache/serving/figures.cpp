#include "runtime/cache/serving/figures.hpp"

#include "runtime/cache/engine/keyspace.hpp"

namespace strata::runtime::cache {

using enum options::figure_kind;
using enum options::figure_unit;

// Each row is one figure in two or three lines.
// clang-format off
const std::vector<options::bound_figure<key_figures>>& key_figure_table() {
  static const std::vector<options::bound_figure<key_figures>> table = {
      {{.key = "keys.now", .kind = gauge, .help = "keys in all databases of a cache",
        .metric = "strata_cache_keys", .column = "keys", .is_hidden = true},
       &key_figures::keys},
      {{.key = "keys.hits", .help = "keys that a cache's clients looked up and found",
        .metric = "strata_cache_hits_total", .column = "hits", .is_hidden = true},
       &key_figures::hits},
      {{.key = "keys.misses", .help = "keys that a cache's clients looked up and did not find",
        .metric = "strata_cache_misses_total", .column = "misses", .is_hidden = true},
       &key_figures::misses},
      {{.key = "keys.expired", .help = "keys of a cache that expired",
        .metric = "strata_cache_expired_total", .column = "expired", .is_hidden = true},
       &key_figures::expired},
      {{.key = "keys.evicted", .help = "keys that a cache evicted because memory was full",
        .metric = "strata_cache_evicted_total", .column = "evicted", .is_hidden = true},
       &key_figures::evicted},
      {{.key = "memory.used", .kind = gauge, .unit = bytes,
        .help = "memory used by a cache's data",
        .metric = "strata_cache_memory_bytes", .column = "memory", .is_hidden = true},
       &key_figures::memory},
      {{.key = "disk_fails", .kind = gauge,
        .help = "1 while a cache's log or its last snapshot cannot be written",
        .metric = "strata_cache_disk_fails", .is_hidden = true},
       &key_figures::disk_fails},
  };
  return table;
}
// clang-format on

void key_figures::copy_from(keyspace& data) {
  std::uint64_t all = 0;
  for (unsigned index = 0; index < keyspace::database_count; ++index) all += data[index].size();
  keys.set(all);
  const auto& counted = data.counted();
  hits.set(counted.hits);
  misses.set(counted.misses);
  expired.set(counted.expired);
  evicted.set(counted.evicted);
  memory.set(static_cast<std::uint64_t>(std::max<std::int64_t>(data.memory(), 0)));
}

}  // namespace strata::runtime::cache
