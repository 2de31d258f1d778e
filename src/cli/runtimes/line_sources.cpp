#include "cli/runtimes/line_sources.hpp"

#include <poll.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "cli/terminal/table.hpp"
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

/// Passes lines to `take` until all sources have ended; `pause` may add others.
outcome<> take_from(std::vector<line_source>& sources, const line_taker& take,
                    const std::function<outcome<>()>& pause) {
  for (;;) {
    for (auto& source : sources) {
      for (const auto& line : source.stream.take_lines()) {
        if (auto taken = take(source.name, line); !taken) return taken;
      }
    }
    const auto count = sources.size();
    if (auto paused = pause(); !paused) return paused;
    if (sources.size() > count) continue;  // lines of the new ones may be there already
    std::erase_if(sources, [](const line_source& each) { return each.stream.ended(); });
    if (sources.empty()) return {};
    if (auto waited = wait_for_any(sources); !waited) return waited;
  }
}

/// The runtimes that a verb's words name and that were created after the verb began.
class newcomers {
 public:
  newcomers(const invocation& call, std::span<const std::string> present)
      : client_(call.daemon), words_(call.words), known_(present.begin(), present.end()) {}

  /// Takes a line of the events.
  outcome<> take(const std::string& line) {
    const auto event = parse_line_of_json(line);
    if (!event) return std::unexpected(event.error());
    const auto kind = text_at(*event, "event");
    if (kind == "removed") known_.erase(text_at(*event, "runtime"));
    may_be_new_ = may_be_new_ || kind == "created";
    return {};
  }

  /// Adds the streams of those that are not known yet.
  outcome<> open(const std::function<outcome<line_source>(const std::string&)>& open,
                 std::vector<line_source>& sources) {
    if (!std::exchange(may_be_new_, false)) return {};
    const auto listed = client_.get("/v1/runtimes");
    if (!listed) return std::unexpected(listed.error());
    for (const auto& name : named(known_runtimes(*listed))) {
      if (!known_.insert(name).second) continue;
      auto opened = open(name);
      if (!opened && opened.error().exit == exit_not_found) continue;  // it is gone already
      if (!opened) return std::unexpected(opened.error());
      sources.push_back(std::move(*opened));
    }
    return {};
  }

 private:
  [[nodiscard]] std::vector<std::string> named(const std::vector<known_runtime>& all) const {
    if (!words_.empty()) return expand(words_, all).names;
    std::vector<std::string> names(all.size());
    std::ranges::transform(all, names.begin(), &known_runtime::name);
    return names;
  }

  control_client client_;
  const std::vector<std::string>& words_;
  std::set<std::string> known_;
  bool may_be_new_ = true;  // some may have been created since the present ones were listed
};

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
  sources.width = 1;
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
  return take_from(sources, take, pause);
}

outcome<> follow_all(const invocation& call, const source_names& present,
                     std::vector<line_source> sources,
                     const std::function<outcome<line_source>(const std::string&)>& open,
                     const line_taker& take, const std::function<outcome<>()>& pause) {
  const auto& words = call.words;
  const bool is_complete = std::ranges::none_of(words, names_several) || sources.empty();
  if (!words.empty() && is_complete) return take_from(sources, take, pause);
  auto events = control_client(call.daemon).stream("/v1/events?tail=0&follow=true");
  if (!events) return std::unexpected(events.error());
  sources.push_back({.name = {}, .stream = std::move(*events)});
  newcomers later(call, present.names);
  return take_from(
      sources,
      [&](const std::string& name, const std::string& line) {
        return name.empty() ? later.take(line) : take(name, line);
      },
      [&]() -> outcome<> {
        if (auto opened = later.open(open, sources); !opened) return opened;
        return pause();
      });
}

}  // namespace strata::cli
