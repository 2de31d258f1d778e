// A folder's contents, for people (HTML) and for programs (JSON).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/files/file_root.hpp"

namespace strata::http {

struct folder_item {
  std::string name;
  bool is_folder = false;
  std::uint64_t size = 0;
  std::int64_t modified_s = 0;
};

/// Further items are not shown.
inline constexpr std::size_t most_items = 10'000;

/// Lists what would be served of the folder, folders first, each kind by name. `relative` is below
/// the root; `folder` is open for reading.
[[nodiscard]] std::vector<folder_item> list_folder(const file_root& root, std::string_view relative,
                                                   const opened_file& folder);

/// `path` is the request's, decoded; it ends in a slash.
[[nodiscard]] std::string listing_page(std::string_view path,
                                       const std::vector<folder_item>& items);
[[nodiscard]] std::string listing_json(std::string_view path,
                                       const std::vector<folder_item>& items);

}  // namespace strata::http
