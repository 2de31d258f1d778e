// The file of a cache's users on the disk: `--acl-file`.
#pragma once

#include <string>

#include "loop/file_store.hpp"
#include "runtime/cache/engine/users/acl_file.hpp"

namespace strata::runtime::cache {

class users_file final : public acl_file {
 public:
  /// `files` must outlive it.
  users_file(loop::file_store& files, std::string path) : files_(files), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] result<std::string> read() override;
  [[nodiscard]] result<void> write(std::string_view text) override;

 private:
  loop::file_store& files_;
  std::string path_;
};

}  // namespace strata::runtime::cache
