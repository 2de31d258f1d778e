// `strata.shared`: values of a runtime's script that its loops have in common, and that stay when
// the script is loaded again. For any thread.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace strata::runtime::scripting {

/// Bytes that a value takes, roughly.
[[nodiscard]] std::size_t memory_of(const nlohmann::json& value);

class shared_store {
 public:
  using clock = std::chrono::steady_clock;

  /// Bytes of all names and values, as text.
  static constexpr std::size_t most_bytes = 64U << 20U;

  [[nodiscard]] std::optional<nlohmann::json> get(const std::string& name);
  /// False when there is no room. `lives`: seconds, or nothing.
  bool set(const std::string& name, nlohmann::json value, std::optional<double> lives);
  /// The sum of what was there, 0 if that was no number, and `difference`. Nothing when there is no
  /// room.
  std::optional<double> add(const std::string& name, double difference,
                            std::optional<double> lives);
  /// False when there was none.
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
