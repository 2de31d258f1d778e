#include "runtime/cache/engine/clients/permission.hpp"

#include <fmt/format.h>

#include "runtime/cache/engine/command.hpp"

namespace strata::runtime::cache {

namespace {

// INFO is dangerous in Redis's categories, but changes nothing, and clients call it before they
// report that they are ready.
bool is_for_admins(const command& command) {
  if (command.has(flag_admin)) return true;
  return command.row->categories.contains("dangerous") && command.row->name != "info";
}

}  // namespace

permission permission_of(std::string_view name) {
  if (name == "readonly") return permission::readonly;
  if (name == "readwrite") return permission::readwrite;
  return permission::admin;
}

std::optional<std::string> denial(permission permission, const command& command) {
  if (permission == permission::admin) return {};
  const auto* const name = permission == permission::readonly ? "readonly" : "readwrite";
  if (permission == permission::readonly && command.has(flag_write)) {
    return fmt::format("NOPERM this cache allows {} access; '{}' changes data", name,
                       command.full_name());
  }
  if (is_for_admins(command)) {
    return fmt::format("NOPERM this cache allows {} access; '{}' requires admin access", name,
                       command.full_name());
  }
  return {};
}

}  // namespace strata::runtime::cache
