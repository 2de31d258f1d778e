#include "runtime/server/script/client_groups.hpp"

namespace strata::runtime::server {

bool client_groups::join(std::uint64_t id, std::string_view name) {
  if (name.size() > longest_name) return false;
  auto& own = of_clients_[id];
  if (own.size() >= most_of_a_client && !own.contains(name)) return false;
  own.emplace(name);
  groups_[std::string(name)].insert(id);
  return true;
}

bool client_groups::leave(std::uint64_t id, std::string_view name) {
  const auto found = of_clients_.find(id);
  if (found == of_clients_.end()) return false;
  const auto one = found->second.find(name);
  if (one == found->second.end()) return false;
  take_out(id, name);
  found->second.erase(one);
  if (found->second.empty()) of_clients_.erase(found);
  return true;
}

void client_groups::leave_all(std::uint64_t id) {
  const auto found = of_clients_.find(id);
  if (found == of_clients_.end()) return;
  for (const auto& name : found->second) take_out(id, name);
  of_clients_.erase(found);
}

const client_groups::ids* client_groups::members(std::string_view name) const {
  const auto found = groups_.find(name);
  return found == groups_.end() ? nullptr : &found->second;
}

std::vector<std::string> client_groups::names(std::uint64_t id) const {
  const auto found = of_clients_.find(id);
  if (found == of_clients_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

void client_groups::clear() {
  groups_.clear();
  of_clients_.clear();
}

void client_groups::take_out(std::uint64_t id, std::string_view name) {
  const auto found = groups_.find(name);
  found->second.erase(id);
  if (found->second.empty()) groups_.erase(found);
}

}  // namespace strata::runtime::server
