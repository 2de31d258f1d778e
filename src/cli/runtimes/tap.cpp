// strata tap: shows what passes through runtimes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <memory>
#include <span>
#include <utility>

#include "cli/daemon_client/control_client.hpp"
#include "cli/runtimes/line_sources.hpp"
#include "cli/runtimes/moment.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/runtimes/tap_capture.hpp"
#include "cli/terminal/hex_dump.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"
#include "proto/resp/resp_value.hpp"
#include "strata/l2/decorators/capture_file.hpp"
#include "text/base64.hpp"
#include "text/percent.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

tapped_line read_line(const json& line) {
  tapped_line read{.time = text_at(line, "time"),
                   .is_outgoing = text_at(line, "direction") == "out",
                   .form = text_at(line, "form"),
                   .address = text_at(line, "address"),
                   .protocol = text_at(line, "protocol"),
                   .sender = text_at(line, "from"),
                   .receiver = text_at(line, "to"),
                   .bytes = text_at(line, "text"),
                   .size = count_at(line, "size")};
  if (line.contains("base64")) {
    read.bytes = text::base64_decode(text_at(line, "base64")).value_or("");
  }
  if (const auto passed = parse_rfc3339(read.time)) {
    read.time_ns = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(passed->time_since_epoch()).count());
  }
  return read;
}

/// `SET key value`; a truncated command is returned unchanged.
std::string command_text(const std::string& bytes) {
  proto::value_reader reader;
  reader.feed(as_bytes(bytes));
  const auto command = reader.next();
  if (!command || !*command) return text::printable(bytes);
  std::string words;
  for (const auto& each : (*command)->elements) {
    words += fmt::format("{}{}", words.empty() ? "" : " ", text::printable(each.text));
  }
  return words;
}

/// The content on one line; for an HTTP head, its first line.
std::string content_of(const tapped_line& line) {
  if (line.form == "command") return command_text(line.bytes);
  auto shown = std::string_view(line.bytes);
  if (line.form == "request" || line.form == "answer") shown = shown.substr(0, shown.find('\r'));
  while (shown.ends_with('\n') || shown.ends_with('\r')) shown.remove_suffix(1);
  return text::printable(shown);
}

std::string render(const tapped_line& line, bool with_hex) {
  const auto cut = line.size > line.bytes.size()
                       ? fmt::format(" [{} of {} B]", line.bytes.size(), line.size)
                       : std::string();
  return fmt::format("{}  {} > {}  {}  {}{}\n{}", text::printable(line.time),
                     text::printable(line.sender), text::printable(line.receiver),
                     text::printable(line.protocol), content_of(line), cut,
                     with_hex ? hex_dump(as_bytes(line.bytes)) : "");
}

/// Writes the lines of a tap to the terminal or to a capture file.
class tap_output {
 public:
  /// With a `width`, each line follows the name of its runtime.
  tap_output(const invocation& call, std::size_t width)
      : call_(call), with_hex_(call.is_set("hex")), width_(width) {}

  /// Errors: of the file of --write.
  outcome<> open(std::span<const std::string> names) {
    if (call_.text("write").empty()) return {};
    const l2::capture_source source{.name = fmt::format("strata {}", fmt::join(names, " ")),
                                    .link_type = tap_link_type};
    auto file = l2::capture_file::create(call_.text("write"), source);
    if (!file) return refuse(exit_failed, file.error());
    file_ = std::make_unique<l2::capture_file>(std::move(*file));
    return {};
  }

  outcome<> take(const std::string& name, const std::string& text) {
    auto line = parse_line_of_json(text);
    if (!line) return std::unexpected(line.error());
    if (const auto lost = count_at(*line, "lost"); lost != 0 && !call_.as_json) {
      complain(fmt::format("{}{} messages were lost here: they came faster than they were read",
                           shown_name(name), lost));
      return {};
    }
    if (file_) return write(read_line(*line));
    if (call_.as_json) {
      (*line)["runtime"] = name;
      print(text::escaped_for_json(line->dump()) + '\n');
    } else if (call_.quiet) {
      print(shown_name(name) + content_of(read_line(*line)) + '\n');
    } else {
      print(shown_name(name) + render(read_line(*line), with_hex_));
    }
    return {};
  }

  /// Writes buffered packets, so that an interrupted capture has all of them.
  outcome<> flush() {
    if (!file_) return {};
    if (auto written = file_->flush(); !written) return refuse(exit_failed, written.error());
    return {};
  }

 private:
  outcome<> write(const tapped_line& line) {
    const auto packet = packet_of(line);
    const auto missing = line.size - std::min<std::uint64_t>(line.size, line.bytes.size());
    const auto written = file_->write(
        {.bytes = as_bytes(packet), .wire_size = packet.size() + missing, .time_ns = line.time_ns});
    if (!written) return refuse(exit_failed, written.error());
    return {};
  }

  std::string shown_name(const std::string& name) const {
    return width_ == 0 ? "" : fmt::format("{:<{}}  ", text::printable(name), width_);
  }

  const invocation& call_;
  bool with_hex_;
  std::size_t width_;
  std::unique_ptr<l2::capture_file> file_;
};

std::string target_of(const invocation& call, const std::string& name) {
  auto target = runtime_target(name, "tap");
  char separator = '?';
  for (const auto& row : runtime::tap_rows()) {
    const auto found = call.flags.find(row.key);
    if (found == call.flags.end()) continue;
    const auto value = found->is_string() ? found->get<std::string>() : found->dump();
    target +=
        fmt::format("{}{}={}", std::exchange(separator, '&'), row.key, text::percent_encode(value));
  }
  return target;
}

}  // namespace

outcome<int> run_tap(const invocation& call) {
  control_client client(call.daemon);
  const auto named = name_sources(client, call);
  if (!named) return std::unexpected(named.error());
  tap_output output(call, named->width);
  if (auto opened = output.open(named->names); !opened) return std::unexpected(opened.error());
  std::vector<line_source> sources;
  const auto open = [&call](const std::string& name) -> outcome<line_source> {
    auto stream = control_client(call.daemon).stream(target_of(call, name));
    if (!stream) return std::unexpected(stream.error());
    return line_source{.name = name, .stream = std::move(*stream)};
  };
  const auto opened = open_sources(client, *named, [&](const std::string& name) -> outcome<> {
    auto source = open(name);
    if (!source) return std::unexpected(source.error());
    sources.push_back(std::move(*source));
    return {};
  });
  if (!opened) return opened;
  const auto taken = follow_all(
      call, *named, std::move(sources), open,
      [&output](const auto& name, const auto& line) { return output.take(name, line); },
      [&output] { return output.flush(); });
  if (!taken) return std::unexpected(taken.error());
  return opened;
}

}  // namespace strata::cli
