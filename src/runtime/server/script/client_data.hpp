// Values that a script stores with a client, by name; their total size is bounded.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/scripting/shared_store.hpp"

namespace strata::runtime::server {

class client_data {
 public:
  static constexpr std::size_t most_bytes = 1U << 20U;

  /// Null if there is none.
  [[nodiscard]] const nlohmann::json* find(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }
  void forget(std::string_view name) {
    const auto found = values_.find(name);
    if (found == values_.end()) return;
    bytes_ -= bytes_of(name, found->second);
    values_.erase(found);
  }
  /// Returns false if there is no room: then the old value stays.
  [[nodiscard]] bool keep(std::string_view name, nlohmann::json value) {
    const auto* const before = find(name);
    const auto freed = before == nullptr ? 0 : bytes_of(name, *before);
    const auto bytes = bytes_ - freed + bytes_of(name, value);
    if (bytes > most_bytes) return false;
    bytes_ = bytes;
    values_.insert_or_assign(std::string(name), std::move(value));
    return true;
  }

 private:
  static std::size_t bytes_of(std::string_view name, const nlohmann::json& value) {
    return name.size() + scripting::memory_of(value);
  }

  std::map<std::string, nlohmann::json, std::less<>> values_;
  std::size_t bytes_ = 0;
};

}  // namespace strata::runtime::server
