// The groups into which a script has put the clients of its loop.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace strata::runtime::server {

class client_groups {
 public:
  using ids = std::set<std::uint64_t>;

  static constexpr std::size_t most_of_a_client = 10'000;
  static constexpr std::size_t longest_name = 1024;

  /// Returns false if the client is in too many groups already, or the name is too long.
  [[nodiscard]] bool join(std::uint64_t id, std::string_view name);
  /// Returns false if the client was not in it.
  bool leave(std::uint64_t id, std::string_view name);
  void leave_all(std::uint64_t id);
  /// The client's groups.
  [[nodiscard]] std::vector<std::string> names(std::uint64_t id) const;
  /// Null if the group has no members.
  [[nodiscard]] const ids* members(std::string_view name) const;
  void clear();

 private:
  void take_out(std::uint64_t id, std::string_view name);

  std::map<std::string, ids, std::less<>> groups_;
  boost::unordered_flat_map<std::uint64_t, std::set<std::string, std::less<>>> of_clients_;
};

}  // namespace strata::runtime::server
