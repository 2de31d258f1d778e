// Where the daemon's own runtimes listen, and which of them form a group.
#pragma once

#include <string>
#include <vector>

#include "daemon/supervisor/entry_list.hpp"
#include "daemon/supervisor/relations.hpp"
#include "net/directory.hpp"

namespace strata::daemon {

class local_directory final : public net::directory {
 public:
  /// `loop` is that of the entries; both outlive this object.
  local_directory(loop::loop& loop, const entry_list& list) : home_(loop), list_(list) {}

  loop::task<result<std::vector<net::endpoint_url>>> find_endpoints(loop::loop& asking,
                                                                    std::string name) override;
  loop::task<net::group_members> find_members(loop::loop& asking, std::string whose,
                                              std::string group) override;
  [[nodiscard]] const told_members& told() const { return told_; }

 private:
  net::group_members members_for(const std::string& whose, const std::string& group);
  [[nodiscard]] result<std::vector<net::endpoint_url>> endpoints_of(const std::string& name) const;

  loop::loop& home_;
  const entry_list& list_;
  told_members told_;
};

}  // namespace strata::daemon
