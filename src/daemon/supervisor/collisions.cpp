#include "daemon/supervisor/collisions.hpp"

#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "net/scheme.hpp"

namespace strata::daemon {

namespace {

/// Another runtime that already listens where a new one is to listen.
struct collision {
  std::string holder;
  std::string theirs;
  std::string ours;
  bool is_of_frames;  ///< both would get a copy of each frame
};

bool is_up(const entry& entry) { return entry.state == run_state::running || entry.is_starting; }

// The files that a runtime writes, which it must not share.
std::vector<std::string> written_files(const runtime::runtime& runtime) {
  std::vector<std::string> paths;
  const auto options = runtime.options(false);
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

// For host names, or addresses of both IP versions, the answer depends on the machine: false.
bool are_one_place(const std::string& one, const std::string& other) {
  const auto first = net::parse_endpoint(one);
  const auto second = net::parse_endpoint(other);
  if (!first || !second || !net::collide(*first, *second)) return false;
  if (!first->has_port()) return true;
  const auto here = loop::socket_address::from_ip(first->host, first->port);
  const auto there = loop::socket_address::from_ip(second->host, second->port);
  return first->port != 0 && here && there && here->family() == there->family();
}

/// Two endpoints of one runtime, of which only the first can listen.
std::optional<std::pair<std::string, std::string>> own_collision(const entry& subject) {
  const auto urls = subject.body->endpoints();
  for (auto first = urls.begin(); first != urls.end(); ++first) {
    const auto second = std::find_if(first + 1, urls.end(), [&](const std::string& each) {
      return are_one_place(*first, each);
    });
    if (second != urls.end()) return {{*first, *second}};
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
                     ", and both would receive every frame",
                 "stop that runtime, or use another EtherType or VLAN");
}

void explain_conflict(const entry_map& all, const entry& loser, error& failed) {
  if (failed.code == errc::conflict && failed.sys_errno == 0) {
    explain_file_conflict(all, loser, failed);
  }
  if (failed.sys_errno != EADDRINUSE) return;
  if (const auto found = find_collision(all, loser)) {
    failed.reason = "runtime '" + found->holder + "' listens on " + found->theirs;
    failed.remedy = "stop that runtime or choose another port";
    return;
  }
  if (const auto own = own_collision(loser)) {
    failed.reason = "its endpoints " + own->first + " and " + own->second + " are the same address";
    failed.remedy = "remove one of them or choose another port";
    return;
  }
  if (failed.remedy.empty()) {
    failed.remedy = "another program listens there: stop it or choose another port";
  }
}

std::string awaited_interface(const entry& subject) {
  for (const auto& each : subject.body->endpoints()) {
    const auto url = net::parse_endpoint(each);
    if (url && url->is_ethernet() && ::if_nametoindex(url->host.c_str()) == 0 && errno == ENODEV) {
      return url->host;
    }
  }
  return {};
}

}  // namespace strata::daemon
