// ACL LOG: the latest calls that users' rules did not permit, and failed logins.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace strata::runtime::cache {

enum class acl_context : std::uint8_t { toplevel, transaction, script };

struct acl_log_entry {
  std::string_view reason;  ///< "command", "key", "channel" or "auth"
  acl_context context = acl_context::toplevel;
  std::string object;  ///< the command, key or channel; for "auth", the command that logs in
  std::string user;
  std::string client;  ///< as a line of CLIENT LIST
  std::int64_t time_ms = 0;
  std::uint64_t count = 1;
};

class acl_log {
 public:
  /// Adds the entry, or counts a recent one that differs only in client and time. Removes the
  /// oldest entries beyond `limit`.
  void add(acl_log_entry entry, std::size_t limit);
  void clear() { entries_.clear(); }
  /// Returns the entries, the latest first.
  [[nodiscard]] const std::deque<acl_log_entry>& entries() const { return entries_; }

 private:
  std::deque<acl_log_entry> entries_;
};

[[nodiscard]] std::string_view name_of(acl_context context);

}  // namespace strata::runtime::cache
