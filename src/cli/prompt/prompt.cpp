#include "cli/prompt/prompt.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "cli/prompt/dialogue.hpp"
#include "cli/prompt/reply_text.hpp"
#include "cli/prompt/vocabulary.hpp"
#include "cli/terminal/line_editor.hpp"
#include "cli/terminal/output.hpp"
#include "options/locations.hpp"
#include "proto/resp/resp_request.hpp"
#include "text/readable.hpp"
#include "text/word.hpp"

namespace strata::cli {

namespace {

using proto::resp_value;

enum class verdict : std::uint8_t { go_on, leave };

/// Splits the typed line into words; nullopt, with a message, if its quotes do not match.
std::optional<std::vector<std::string>> read_words(std::string_view line) {
  std::vector<std::string> words;
  if (proto::split_words(line, words)) return words;
  complain("this line has unbalanced quotes");
  return {};
}

/// Shows MONITOR's lines until they end.
outcome<> watch(cache_talk& talk) {
  for (;;) {
    if (auto received = talk.receive(); !received) return received;
  }
}

outcome<verdict> obey(cache_talk& talk, const std::vector<std::string>& words) {
  if (words.empty()) return verdict::go_on;
  if (words.size() == 1 && (words[0] == "quit" || words[0] == "exit")) return verdict::leave;
  if (auto done = talk.execute(words); !done) return std::unexpected(done.error());
  if (!talk.is_monitoring()) return verdict::go_on;
  if (auto watched = watch(talk); !watched) return std::unexpected(watched.error());
  return verdict::leave;
}

outcome<int> talk_at_terminal(cache_link link, const std::string& name, const std::string& endpoint,
                              const std::string& password) {
  std::string received;  // received while the user types
  bool is_typing = false;
  cache_talk talk(std::move(link), [&](const resp_value& reply) {
    // MONITOR's output already consists of lines.
    const auto text = pretty_reply(reply) + '\n';
    if (is_typing) {
      received += text;
    } else {
      print(text);
    }
  });
  if (auto begun = talk.begin(password); !begun) return std::unexpected(begun.error());
  const auto folder = options::paths_for(options::current_path_environment()).state_dir;
  line_editor editor(folder.empty() ? folder : folder + "/cache_history");
  print(
      fmt::format("{}: a cache at {}. Tab completes a command, 'help COMMAND' explains it;\nCtrl-D "
                  "leaves, the cache keeps running.\n",
                  text::printable(name), text::printable(endpoint)));
  vocabulary known(talk);
  editor.complete_with([&known](std::string_view begun) { return known.words_from(begun); });
  outcome<> ended;
  const side_channels beside{{.fd = talk.fd(), .receive = [&]() -> std::optional<std::string> {
                                ended = talk.receive();
                                if (!ended) return {};
                                return std::exchange(received, {});
                              }}};
  for (;;) {
    if (auto shown = talk.show_arrived(); !shown) return std::unexpected(shown.error());
    is_typing = true;
    const auto line = editor.read(name + talk.state() + "> ", beside);
    is_typing = false;
    print(std::exchange(received, {}));
    if (!line) print("\n");
    if (!ended) return std::unexpected(ended.error());
    if (!line) return exit_done;
    const auto words = read_words(*line);
    if (!words) continue;
    if (!words->empty() && !is_secret(*words)) editor.remember(*line);
    if (!words->empty() && words->size() <= 2 && text::in_small_letters(words->front()) == "help") {
      print(known.help(words->size() == 2 ? words->back() : ""));
      continue;
    }
    const auto done = obey(talk, *words);
    if (!done) return std::unexpected(done.error());
    if (*done == verdict::leave) return exit_done;
  }
}

/// Reads the lines that standard input has now; returns false at its end.
outcome<bool> read_input(text::line_splitter& splitter, std::vector<std::string>& lines) {
  std::array<char, 65536> buffer;
  const auto got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) return true;
  if (got < 0) return refuse(exit_failed, system_error(errno, "read standard input"));
  lines =
      got == 0 ? splitter.finish() : splitter.feed({buffer.data(), static_cast<std::size_t>(got)});
  return got != 0;
}

outcome<verdict> obey_lines(cache_talk& talk, const std::vector<std::string>& lines) {
  for (const auto& line : lines) {
    const auto words = read_words(line);
    if (!words) continue;
    const auto done = obey(talk, *words);
    if (!done || *done == verdict::leave) return done;
  }
  return verdict::go_on;
}

outcome<int> talk_through_pipes(cache_link link, const std::string& password) {
  cache_talk talk(std::move(link), [](const resp_value& reply) { print(raw_reply(reply) + '\n'); });
  if (auto begun = talk.begin(password); !begun) return std::unexpected(begun.error());
  text::line_splitter splitter;
  bool has_input = true;
  while (has_input || talk.is_subscribed()) {
    if (auto shown = talk.show_arrived(); !shown) return std::unexpected(shown.error());
    std::array<pollfd, 2> ready{
        {{has_input ? STDIN_FILENO : -1, POLLIN, 0}, {talk.fd(), POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;  // interrupted by a signal
    if (ready[1].revents != 0) {
      if (auto received = talk.receive(); !received) return std::unexpected(received.error());
    }
    if (ready[0].revents == 0) continue;
    std::vector<std::string> lines;
    const auto more = read_input(splitter, lines);
    if (!more) return std::unexpected(more.error());
    const auto done = obey_lines(talk, lines);
    if (!done) return std::unexpected(done.error());
    if (*done == verdict::leave) return exit_done;
    has_input = *more;
  }
  return exit_done;
}

}  // namespace

outcome<int> run_cache_prompt(const invocation& call, const std::string& name,
                              const std::string& endpoint, const std::string& password) {
  auto link = cache_link::connect(endpoint);
  if (!link) return std::unexpected(link.error());
  const bool is_terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
  if (is_terminal && !call.quiet)
    return talk_at_terminal(std::move(*link), name, endpoint, password);
  return talk_through_pipes(std::move(*link), password);
}

}  // namespace strata::cli
