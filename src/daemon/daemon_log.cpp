#include "daemon/daemon_log.hpp"

#include <spdlog/sinks/sink.h>
#include <spdlog/spdlog.h>

#include <string_view>
#include <utility>

namespace strata::daemon {

namespace {

constexpr const char* own_name = "strata daemon";  // name of lines that belong to no runtime

class output_sink final : public spdlog::sinks::sink {
 public:
  explicit output_sink(std::shared_ptr<log_output> output) : to_(std::move(output)) {}

  void log(const spdlog::details::log_msg& line) override {
    const auto view = [](const auto& text) { return std::string_view(text.data(), text.size()); };
    const auto source = view(line.logger_name);  // a runtime's lines come from its own logger
    to_->write(view(spdlog::level::to_string_view(line.level)),
               source == own_name ? std::string_view() : source, view(line.payload));
  }
  void flush() override {}
  void set_pattern(const std::string& /*pattern*/) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}

 private:
  std::shared_ptr<log_output> to_;
};

}  // namespace

result<std::shared_ptr<log_output>> set_up_log(const std::string& level, log_settings settings) {
  auto opened = log_output::open(std::move(settings));
  if (!opened) return opened;
  auto sink = std::make_shared<output_sink>(*opened);
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(own_name, std::move(sink)));
  spdlog::set_level(spdlog::level::from_str(level));
  return opened;
}

}  // namespace strata::daemon
