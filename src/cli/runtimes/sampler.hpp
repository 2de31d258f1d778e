// The present figures of runtimes and of proxies' backends, with rates since the previous sample.
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/daemon_client/control_client.hpp"
#include "cli/line/outcome.hpp"

namespace strata::cli {

class sampler {
 public:
  /// Samples the runtimes that `words` name; all, if there are no words.
  sampler(control_client& client, std::span<const std::string> words)
      : client_(client), words_(words) {}

  /// `{"time": …, "runtimes": […]}`. A missing figure is null. Errors: the daemon cannot be
  /// reached, or the words name nothing.
  [[nodiscard]] outcome<nlohmann::json> take();

 private:
  using moment = std::chrono::steady_clock::time_point;

  [[nodiscard]] outcome<std::vector<std::string>> names();
  [[nodiscard]] outcome<std::map<std::string, nlohmann::json>> stats_by_name();
  [[nodiscard]] outcome<nlohmann::json> runtime_figures(const std::string& name,
                                                        const nlohmann::json& stats);
  [[nodiscard]] outcome<nlohmann::json> backends_of(const std::string& name);
  [[nodiscard]] nlohmann::json rate_of(const std::string& key, std::optional<double> counted);

  control_client& client_;
  std::span<const std::string> words_;
  std::optional<moment> before_;
  double elapsed_s_ = 0;
  std::map<std::string, double> counted_before_;
  std::map<std::string, double> counted_;
};

}  // namespace strata::cli
