// The libraries of functions that clients have loaded, as texts: data of the cache, beside its
// keys.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace strata::runtime::cache {

class function_texts {
 public:
  using map = std::map<std::string, std::string, std::less<>>;

  /// The texts, by the names of their libraries.
  [[nodiscard]] const map& all() const { return all_; }
  /// Another number after each change.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  void put(std::string name, std::string text) {
    all_.insert_or_assign(std::move(name), std::move(text));
    ++version_;
  }
  void remove(std::string_view name) {
    if (const auto found = all_.find(name); found != all_.end()) all_.erase(found);
    ++version_;
  }
  void clear() {
    all_.clear();
    ++version_;
  }

 private:
  map all_;
  std::uint64_t version_ = 0;
};

}  // namespace strata::runtime::cache
