#include "cli/on_each.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/daemon_client/cluster.hpp"
#include "cli/daemon_client/control_client.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "strata/base/unique_fd.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

/// The process that runs the verb on one daemon.
struct worker {
  std::string daemon;
  pid_t id = 0;
  unique_fd output;  ///< none: it has ended
  text::line_splitter lines;
  std::string document;  ///< what it has printed and was not shown yet
  int exit = exit_failed;
};

// Runs the verb in the child, whose standard output is a pipe.
[[noreturn]] void run_in_child(const verb_row& verb, invocation call, const unique_fd& output) {
  ::dup2(output.get(), STDOUT_FILENO);
  const auto done = verb.run(call);
  if (!done) complain(fmt::format("{}: {}", call.daemon.other, done.error().message));
  ::_exit(done ? *done : done.error().exit);
}

outcome<> start(worker& next, const verb_row& verb, const invocation& call) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return refuse(exit_failed, "cannot make a pipe");
  next.output = unique_fd(ends[0]);
  const unique_fd input(ends[1]);
  next.id = ::fork();
  if (next.id < 0) return refuse(exit_failed, "cannot start another process");
  if (next.id != 0) return {};
  auto own = call;
  own.daemon.other = next.daemon;
  run_in_child(verb, std::move(own), input);
}

// A JSON object that is a whole line is one of a stream: it is shown at once, with its daemon.
// Other JSON is a document of several lines, and shown when all have ended.
void show_lines(const invocation& call, worker& source, const std::vector<std::string>& lines,
                std::size_t width) {
  std::string shown;
  for (const auto& line : lines) {
    if (!call.as_json) {
      shown += fmt::format("{:<{}}  {}\n", source.daemon, width, line);
      continue;
    }
    auto object = parse_json(line);
    if (object && object->is_object()) {
      (*object)["daemon"] = source.daemon;
      shown += text::escaped_for_json(object->dump()) + "\n";
    } else {
      source.document += line + "\n";
    }
  }
  print(shown);
}

// Returns false at the end of the worker's output.
bool read_from(worker& source, std::string& bytes) {
  char part[65536];
  const auto got = ::read(source.output.get(), part, sizeof part);
  if (got < 0 && errno == EINTR) return true;
  if (got > 0) bytes.append(part, static_cast<std::size_t>(got));
  return got > 0;
}

void end(worker& source) {
  source.output.reset();
  int status = 0;
  while (::waitpid(source.id, &status, 0) < 0 && errno == EINTR) {
  }
  source.exit = WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(exit_failed);
}

// Returns when all workers have ended.
void serve(std::vector<worker>& all, const invocation& call, std::size_t width) {
  for (;;) {
    std::vector<pollfd> waits;
    waits.reserve(all.size());
    for (const auto& each : all) {
      waits.push_back({.fd = each.output ? each.output.get() : -1, .events = POLLIN, .revents = 0});
    }
    if (std::ranges::none_of(all, [](const worker& each) { return bool(each.output); })) return;
    if (::poll(waits.data(), waits.size(), -1) < 0) continue;
    for (std::size_t at = 0; at < all.size(); ++at) {
      if (waits[at].revents == 0) continue;
      std::string bytes;
      const bool is_open = read_from(all[at], bytes);
      show_lines(call, all[at], all[at].lines.feed(bytes), width);
      if (is_open) continue;
      show_lines(call, all[at], all[at].lines.finish(), width);
      end(all[at]);
    }
  }
}

void show_documents(const std::vector<worker>& all) {
  auto answers = json::array();
  for (const auto& each : all) {
    auto answer = parse_json(each.document);
    answers.push_back({{"daemon", each.daemon},
                       {"exit", each.exit},
                       {"answer", answer ? std::move(*answer) : json()}});
  }
  print_json(answers);
}

}  // namespace

outcome<int> run_on_each(const verb_row& verb, const invocation& call) {
  const auto cluster = read_local_cluster(call.daemon);
  if (!cluster) return std::unexpected(cluster.error());
  const auto names = select_daemons(*cluster, call.daemon.other);
  if (!names) return std::unexpected(names.error());
  std::vector<worker> all(names->size());
  std::size_t width = 0;
  for (std::size_t at = 0; at < all.size(); ++at) {
    all[at].daemon = (*names)[at];
    width = std::max(width, all[at].daemon.size());
    if (auto started = start(all[at], verb, call); !started) {
      for (auto& each : std::span(all).first(at)) end(each);
      return std::unexpected(started.error());
    }
  }
  serve(all, call, width);
  const bool has_streamed = call.as_json && std::ranges::all_of(all, [](const worker& each) {
                              return each.document.empty() && each.exit == exit_done;
                            });
  if (call.as_json && !has_streamed) show_documents(all);
  return std::ranges::max_element(all, {}, &worker::exit)->exit;
}

}  // namespace strata::cli
