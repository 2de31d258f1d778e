#include "runtime/cache/engine/permission.hpp"

#include <fmt/format.h>

#include "runtime/cache/engine/command.hpp"

namespace strata::runtime::cache {

namespace {

// INFO is dangerous in Redis's categories, but changes nothing, and clients ask for it before
// they say that they are ready.
bool is_for_admins(const command& what) {
  if (what.has(flag_admin)) return true;
  return what.row->categories.contains("dangerous") && what.row->name != "info";
}

}  // namespace

permission permission_of(std::string_view name) {
  if (name == "readonly") return permission::readonly;
  if (name == "readwrite") return permission::readwrite;
  return permission::admin;
}

std::optional<std::string> denial(permission given, const command& what) {
  if (given == permission::admin) return {};
  const auto* const name = given == permission::readonly ? "readonly" : "readwrite";
  if (given == permission::readonly && what.has(flag_write)) {
    return fmt::format("NOPERM this cache is opened as {}; '{}' changes data", name,
                       what.full_name());
  }
  if (is_for_admins(what)) {
    return fmt::format("NOPERM this cache is opened as {}; '{}' is for admins", name,
                       what.full_name());
  }
  return {};
}

}  // namespace strata::runtime::cache
