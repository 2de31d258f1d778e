#include "daemon/supervisor/entry_list.hpp"

namespace strata::daemon {

result<entry_ref> entry_list::find(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found != entries_.end() && found->second->is_stored()) return found->second;
  const auto kept = unusable_.find(name);
  if (kept == unusable_.end()) return not_found(name, known_names());
  return failure(errc::conflict, "use '" + name + "'",
                 "it could not be restored: " + kept->second.reason,
                 "use the version that created it, or remove it: strata rm " + name);
}

std::vector<entry_ref> entry_list::all() const {
  std::vector<entry_ref> stored;
  for (const auto& [name, each] : entries_) {
    if (each->is_stored()) stored.push_back(each);
  }
  return stored;
}

std::vector<std::string> entry_list::known_names() const {
  std::vector<std::string> known;
  for (const auto& each : all()) known.push_back(each->name());
  for (const auto& [name, kept] : unusable_) known.push_back(name);
  return known;
}

bool entry_list::is_known(const std::string& name) const {
  const auto own = entries_.find(name);
  if (own != entries_.end() && own->second->is_stored()) return true;
  return unusable_.contains(name) || (cluster_ != nullptr && cluster_->has(name));
}

std::vector<std::string> entry_list::children(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& each : all()) {
    if (each->body->common().owner == name) names.push_back(each->name());
  }
  return names;
}

entry_ref entry_list::entry_of(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : found->second;
}

}  // namespace strata::daemon
