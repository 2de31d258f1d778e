// `strata.shared`: values that the loops of a runtime's script share, and that survive loading the
// script again. For any thread.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace strata::runtime::scripting {

/// The approximate size of a value in bytes.
[[nodiscard]] std::size_t memory_of(const nlohmann::json& value);

class shared_store {
 public:
  using clock = std::chrono::steady_clock;

  /// Total bytes of all names and values, as text.
  static constexpr std::size_t most_bytes = 64U << 20U;

  [[nodiscard]] std::optional<nlohmann::json> get(const std::string& name);
  /// Returns false if there is no room. `lives`: seconds, or no limit.
  bool set(const std::string& name, nlohmann::json value, std::optional<double> lives);
  /// Adds `difference` to the present value, or to 0 if that is no number, and returns the sum.
  /// Nullopt if there is no room.
  std::optional<double> add(const std::string& name, double difference,
                            std::optional<double> lives);
  /// Returns false if there was none.
  bool remove(const std::string& name);

 private:
  struct kept {
    nlohmann::json value;
    std::optional<clock::time_point> until;
    std::size_t bytes = 0;
  };

  [[nodiscard]] kept* find(const std::string& name);
  void forget_old();
  bool put(const std::string& name, nlohmann::json value, std::optional<clock::time_point> until);

  std::mutex lock_;
  std::map<std::string, kept> all_;
  std::size_t bytes_ = 0;
};

}  // namespace strata::runtime::scripting
