#include "daemon/collisions.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "net/scheme.hpp"

namespace strata::daemon {

namespace {

/// Another runtime that listens where a newcomer wants to.
struct collision {
  std::string holder;
  std::string theirs;
  std::string ours;
  bool is_of_frames;  ///< of which both would get copies
};

bool is_up(const entry& which) { return which.state == run_state::running || which.is_starting; }

// Files that a runtime has for itself.
std::vector<std::string> written_files(const runtime::runtime& of) {
  std::vector<std::string> paths;
  const auto options = of.options(false);
  for (const auto* const key : {"write", "persistent", "snapshot", "access_log"}) {
    const auto path = options.value(key, std::string());
    if (!path.empty()) paths.push_back(path);
  }
  return paths;
}

std::optional<collision> find_collision(const entry_map& all, const entry& newcomer) {
  if (!newcomer.body->listens()) return {};
  for (const auto& [name, each] : all) {
    if (each.get() == &newcomer || !is_up(*each) || !each->body->listens()) continue;
    for (const auto& theirs : each->body->endpoints()) {
      for (const auto& ours : newcomer.body->endpoints()) {
        const auto a = net::parse_endpoint(theirs);
        const auto b = net::parse_endpoint(ours);
        if (!a || !b || !net::collide(*a, *b)) continue;
        return collision{name, theirs, ours, a->scheme->form == net::url_form::interface};
      }
    }
  }
  return {};
}

void explain_file_conflict(const entry_map& all, const entry& loser, error& failed) {
  const auto ours = written_files(*loser.body);
  for (const auto& [name, each] : all) {
    if (each.get() == &loser || !is_up(*each)) continue;
    for (const auto& theirs : written_files(*each->body)) {
      const bool is_shared = std::ranges::any_of(ours, [&](const std::string& path) {
        std::error_code missing;
        return path == theirs || std::filesystem::equivalent(path, theirs, missing);
      });
      if (is_shared) failed.reason = "runtime '" + name + "' writes it";
    }
  }
}

}  // namespace

result<void> check_frames_are_for_one(const entry_map& all, const entry& newcomer) {
  const auto found = find_collision(all, newcomer);
  if (!found || !found->is_of_frames) return {};
  return failure(errc::conflict, "listen on " + found->ours,
                 "runtime '" + found->holder + "' listens on " + found->theirs +
                     ", and both would hear every frame",
                 "stop that one, or use another EtherType or VLAN");
}

void explain_conflict(const entry_map& all, const entry& loser, error& failed) {
  if (failed.code == errc::conflict && failed.sys_errno == 0) {
    explain_file_conflict(all, loser, failed);
  }
  if (failed.sys_errno != EADDRINUSE) return;
  if (const auto found = find_collision(all, loser)) {
    failed.reason = "runtime '" + found->holder + "' listens on " + found->theirs;
    failed.remedy = "stop that one or choose another port";
    return;
  }
  if (failed.remedy.empty()) {
    failed.remedy = "another program listens there: stop it or choose another port";
  }
}

}  // namespace strata::daemon
