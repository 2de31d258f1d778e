// Generic netlink families: their ids, operations and accepted attributes, as the kernel's
// controller ("nlctrl") reports them. Source: include/uapi/linux/genetlink.h. Linux 6.1 or newer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/nl/connection.hpp"
#include "strata/wire/genl.hpp"

namespace strata::nl {

struct generic_operation {
  std::uint32_t command = 0;
  bool needs_admin = false;      ///< CAP_NET_ADMIN
  bool needs_uns_admin = false;  ///< CAP_NET_ADMIN in the user namespace that owns the network
                                 ///< namespace
  bool can_do = false;
  bool can_dump = false;
  bool has_policy = false;

  bool operator==(const generic_operation&) const = default;
};

struct generic_group {
  std::string name;
  std::uint32_t id = 0;

  bool operator==(const generic_group&) const = default;
};

struct generic_family {
  std::string name;
  std::uint16_t id = 0;  ///< changes with each registration
  std::uint32_t version = 0;
  std::uint32_t header_size = 0;
  std::uint32_t max_attribute = 0;  ///< 0 if each operation has its own
  std::vector<generic_operation> operations;
  std::vector<generic_group> groups;

  /// Returns nullptr if there is no such group.
  [[nodiscard]] const generic_group* find_group(std::string_view text) const;
};

/// The kind of value that the kernel accepts for an attribute (NL_ATTR_TYPE_…).
enum class attribute_kind : std::uint8_t {
  invalid,
  flag,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  binary,
  string,
  nul_string,
  nested,
  nested_array,
  bitfield32,
  sint,
  uint
};
/// "u32", "nul-string", …
[[nodiscard]] std::string_view name_of(attribute_kind kind);

struct attribute_policy {
  std::uint16_t type = 0;  ///< the attribute's
  attribute_kind kind = attribute_kind::invalid;
  std::optional<std::int64_t> least_signed;
  std::optional<std::int64_t> most_signed;
  std::optional<std::uint64_t> least;
  std::optional<std::uint64_t> most;
  std::optional<std::uint32_t> least_size;  ///< bytes
  std::optional<std::uint32_t> most_size;
  std::optional<std::uint64_t> mask;
  std::optional<std::uint32_t> table;  ///< of the nest's attributes, in `family_policy::tables`

  bool operator==(const attribute_policy&) const = default;
};

/// Tables of policies, and the table of each operation.
struct family_policy {
  struct of_operation {
    std::optional<std::uint32_t> for_do;
    std::optional<std::uint32_t> for_dump;
  };
  std::map<std::uint32_t, std::vector<attribute_policy>> tables;
  std::map<std::uint32_t, of_operation> operations;  ///< by command

  /// Returns nullptr if the kernel reports no table.
  [[nodiscard]] const std::vector<attribute_policy>* table_of(std::uint32_t command,
                                                              bool is_dump) const;
};

/// A connection to generic netlink and its controller.
class generic {
 public:
  [[nodiscard]] static result<generic> open(connection_options options = {});

  [[nodiscard]] connection& over() { return over_; }
  [[nodiscard]] const connection& over() const { return over_; }

  /// Returns the number of the family, which is the type of messages to it. Allocates nothing.
  /// Errors: not_found, with a remedy.
  [[nodiscard]] result<std::uint16_t> resolve(std::string_view name);
  [[nodiscard]] result<generic_family> family(std::string_view name);
  /// Returns all families, by id.
  [[nodiscard]] result<std::vector<generic_family>> families();
  /// Reads the family's policy (CTRL_CMD_GETPOLICY). Errors: not_found if the family has none to
  /// report.
  [[nodiscard]] result<family_policy> policy(const generic_family& family);

 private:
  explicit generic(connection connection) : over_(std::move(connection)) {}
  [[nodiscard]] result<wire::genl_message> ask_for(std::string_view name);

  connection over_;
};

}  // namespace strata::nl
