#include "cli/runtimes/line_sources.hpp"

#include <poll.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

/// Waits until a source has bytes, and reads them.
outcome<> wait_for_any(std::span<line_source> sources) {
  std::vector<pollfd> waits;
  waits.reserve(sources.size());
  for (const auto& each : sources) {
    waits.push_back({.fd = each.stream.fd(), .events = POLLIN, .revents = 0});
  }
  if (::poll(waits.data(), waits.size(), -1) < 0) return {};  // a signal
  for (std::size_t index = 0; index < waits.size(); ++index) {
    if (waits[index].revents == 0) continue;
    if (auto read = sources[index].stream.wait(); !read) return read;
  }
  return {};
}

}  // namespace

outcome<source_names> name_sources(control_client& client, const invocation& call) {
  source_names sources;
  if (call.words.empty()) {
    const auto listed = client.get("/v1/runtimes");
    if (!listed) return std::unexpected(listed.error());
    for (auto& each : known_runtimes(*listed)) sources.names.push_back(std::move(each.name));
  } else {
    const auto named = for_each_name(client, call.words, [&sources](const std::string& name) {
      sources.names.push_back(name);
      return outcome<json>();
    });
    if (!named) return std::unexpected(named.error());
    sources.exit = named->exit;
  }
  if (call.words.size() == 1 && !names_several(call.words[0])) return sources;
  for (const auto& each : sources.names) {
    sources.width = std::max(sources.width, text::printable(each).size());
  }
  return sources;
}

outcome<int> open_sources(control_client& client, const source_names& sources,
                          const std::function<outcome<>(const std::string&)>& open) {
  const auto opened =
      for_each_name(client, sources.names, [&open](const std::string& name) -> outcome<json> {
        if (auto source = open(name); !source) return std::unexpected(source.error());
        return json();
      });
  if (!opened) return std::unexpected(opened.error());
  return sources.exit == exit_done ? opened->exit : sources.exit;
}

outcome<> take_all(std::vector<line_source> sources, const line_taker& take,
                   const std::function<outcome<>()>& pause) {
  for (;;) {
    for (auto& source : sources) {
      for (const auto& line : source.stream.take_lines()) {
        if (auto taken = take(source.name, line); !taken) return taken;
      }
    }
    if (auto paused = pause(); !paused) return paused;
    std::erase_if(sources, [](const line_source& each) { return each.stream.ended(); });
    if (sources.empty()) return {};
    if (auto waited = wait_for_any(sources); !waited) return waited;
  }
}

}  // namespace strata::cli
