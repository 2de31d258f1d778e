#include "options/credentials.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "options/file_text.hpp"
#include "options/own_folder.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::options {

namespace {

constexpr std::size_t longest_name = 255;
constexpr std::size_t longest_line = 4096;  // the limit of every option
constexpr auto to_open = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

std::string remedy_for(std::string_view name) {
  return fmt::format(
      "give the daemon's unit 'LoadCredential={0}:FILE' or 'SetCredentialEncrypted={0}: ...', and "
      "restart it",
      name);
}

// The owner must be root or the daemon's user: anyone else could have put any content there.
result<void> check_owner(int fd, mode_t kind, const std::string& text,
                         const std::string& operation) {
  struct stat found{};
  if (::fstat(fd, &found) != 0) return system_failure(errno, operation);
  if ((found.st_mode & S_IFMT) != kind) {
    return failure(errc::invalid_argument, operation,
                   text + (kind == S_IFDIR ? " is not a folder" : " is not a regular file"));
  }
  if (found.st_uid != 0 && found.st_uid != ::geteuid()) {
    return failure(errc::permission_denied, operation,
                   text + " belongs to " + user_text(found.st_uid) + ", so it cannot be trusted");
  }
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return failure(errc::permission_denied, operation,
                   "others may write to " + text + ", so it cannot be trusted");
  }
  return {};
}

result<unique_fd> open_folder(const std::string& path, const std::string& operation) {
  unique_fd folder(::open(path.c_str(), O_DIRECTORY | O_RDONLY | O_CLOEXEC));
  if (!folder) return system_failure(errno, operation + " in '" + path + "'");
  if (auto own = check_owner(folder.get(), S_IFDIR, "'" + path + "'", operation); !own) {
    return std::unexpected(own.error());
  }
  return folder;
}

result<std::string> read_first_line(int fd, const std::string& operation) {
  auto text = read_text(fd, longest_line + 2, operation);  // the line and its end
  if (!text) return text;
  auto line = text->substr(0, text->find('\n'));
  if (line.ends_with('\r')) line.pop_back();
  if (line.size() > longest_line) {
    return failure(errc::limit_exceeded, operation,
                   fmt::format("its first line is longer than {} bytes", longest_line));
  }
  return line;
}

result<std::string> read_credential(std::string_view name) {
  const auto operation = fmt::format("read the credential '{}'", name);
  if (auto good = check_credential_name(name); !good) return std::unexpected(good.error());
  const char* const variable = std::getenv("CREDENTIALS_DIRECTORY");
  if (variable == nullptr || *variable != '/') {
    return failure(errc::not_found, operation,
                   "this process was given no credentials (CREDENTIALS_DIRECTORY is not set)",
                   remedy_for(name));
  }
  const std::string path = variable;
  const auto folder = open_folder(path, operation);
  if (!folder) return std::unexpected(folder.error());
  const unique_fd file(::openat(folder->get(), std::string(name).c_str(), to_open));
  if (!file && errno == ENOENT) {
    return failure(errc::not_found, operation, "no file in '" + path + "' has this name",
                   remedy_for(name));
  }
  if (!file && errno == ELOOP) {
    return failure(errc::invalid_argument, operation, "it is a link", remedy_for(name));
  }
  if (!file) return system_failure(errno, operation);
  if (auto own = check_owner(file.get(), S_IFREG, "it", operation); !own) {
    return std::unexpected(own.error());
  }
  auto line = read_first_line(file.get(), operation);
  if (!line) return line;
  if (line->empty() || line->contains('\0')) {
    return failure(errc::invalid_argument, operation,
                   line->empty() ? "its first line is empty" : "it holds a byte of value 0",
                   "write the secret into the first line of the credential's file");
  }
  return line;
}

}  // namespace

std::optional<std::string_view> credential_name(std::string_view value) {
  if (!value.starts_with(credential_prefix)) return std::nullopt;
  return value.substr(credential_prefix.size());
}

result<void> check_credential_name(std::string_view name) {
  const auto is_printable = [](char letter) { return letter > ' ' && letter < 0x7f; };
  const bool good = !name.empty() && name.size() <= longest_name && name != "." && name != ".." &&
                    !name.contains('/') && std::ranges::all_of(name, is_printable);
  if (good) return {};
  return failure(errc::invalid_argument, "take a secret from a credential",
                 "its name is not that of a file: 1 to 255 printable letters without '/'",
                 "write credential:NAME with the name that LoadCredential= gives it");
}

result<std::string> secret_of(std::string_view value) {
  if (const auto name = credential_name(value)) return read_credential(*name);
  return std::string(value);
}

}  // namespace strata::options
