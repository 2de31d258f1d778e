// A key and its database, for tables that concern single keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/cache/values/hash.hpp"

namespace strata::runtime::cache {

struct database_key {
  unsigned database = 0;
  std::string key;
  bool operator==(const database_key&) const = default;
};

/// A view without a copy of the key, for lookups.
struct database_key_view {
  unsigned database = 0;
  std::string_view key;
};

inline bool operator==(const database_key& left, const database_key_view& right) {
  return left.database == right.database && left.key == right.key;
}

struct database_key_hash {
  using is_transparent = void;
  using is_avalanching = void;
  std::size_t operator()(const database_key& key) const { return hash_of(key.key) + key.database; }
  std::size_t operator()(const database_key_view& view) const {
    return hash_of(view.key) + view.database;
  }
};

struct database_key_equal {
  using is_transparent = void;
  template <class Left, class Right>
  bool operator()(const Left& left, const Right& right) const {
    return left.database == right.database && left.key == right.key;
  }
};

}  // namespace strata::runtime::cache
