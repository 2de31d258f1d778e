// For tests: random scripts, whose functions wait, fail and return anything.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "loop/backends/sim_world.hpp"

namespace strata::runtime {

class random_script {
 public:
  /// `own`: statements with the runtime's functions. `is_kind`: nothing fails.
  random_script(loop::sim_world& world, std::vector<std::string> own, bool is_kind)
      : world_(world), own_(std::move(own)), is_kind_(is_kind) {}

  /// Adds a function that returns one of these values.
  random_script& add(std::string_view name, std::string_view parameters,
                     std::initializer_list<std::string_view> gives) {
    text_ += fmt::format("function {}({})\n", name, parameters) + statements(0);
    if (gives.size() != 0) {
      text_ += fmt::format("return {}\n", *(gives.begin() + world_.draw(gives.size())));
    }
    text_ += "end\n";
    return *this;
  }
  random_script& say(std::string_view line) {
    text_ += fmt::format("{}\n", line);
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string statements(int depth) {
    std::string all;
    for (auto count = world_.draw(4); count > 0; --count) all += statement(depth);
    return all;
  }

  std::string statement(int depth) {
    const auto inner = [&] { return depth < 2 ? statements(depth + 1) : std::string(); };
    switch (world_.draw(9)) {
      case 0:
      case 1: return fmt::format("strata.sleep({})\n", static_cast<double>(world_.draw(60)) / 1000);
      case 2: return "pcall(function()\n" + inner() + "end)\n";
      case 3: return "coroutine.wrap(function()\n" + inner() + "end)()\n";
      case 4: return is_kind_ ? "" : "if math.random() < 0.2 then error('oh') end\n";
      case 5:
        return fmt::format("strata.set_timeout({}, function()\n", world_.draw(50)) + inner() +
               "end)\n";
      case 6: return is_kind_ ? "" : "if math.random() < 0.1 then return {} end\n";
      default: return own_.empty() ? "" : own_[world_.draw(own_.size())] + "\n";
    }
  }

  loop::sim_world& world_;
  std::vector<std::string> own_;
  bool is_kind_;
  std::string text_;
};

/// A script file, which the destructor removes.
class script_file {
 public:
  script_file()
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("strata-sim-{}.lua", ::getpid())) {}
  ~script_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  script_file(const script_file&) = delete;
  script_file& operator=(const script_file&) = delete;

  void write(const std::string& text) const { std::ofstream(path_) << text; }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace strata::runtime
