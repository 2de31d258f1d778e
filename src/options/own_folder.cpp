#include "options/own_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace strata::options {

namespace {

std::string mode_text(mode_t mode) {
  std::string text = "0000";
  for (std::size_t i = text.size(); i-- > 0; mode >>= 3U) {
    text[i] = static_cast<char>('0' + (mode & 7U));
  }
  return text;
}

result<unique_fd> open_at(int parent, const std::string& name, const std::string& shown,
                          const std::string& remedy) {
  const std::string operation = "use the folder '" + shown + "'";
  if (::mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_failure(errno, "make the folder '" + shown + "'", remedy);
  }
  unique_fd folder(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder && (errno == ENOTDIR || errno == ELOOP)) {
    return failure(errc::conflict, operation, "it is a link or not a folder", remedy);
  }
  struct stat found{};
  if (!folder || ::fstat(folder.get(), &found) != 0) {
    return system_failure(errno, operation, remedy);
  }
  if (found.st_uid != ::geteuid()) {
    return failure(errc::permission_denied, operation,
                   "it belongs to " + user_text(found.st_uid) + ", not to " +
                       user_text(::geteuid()) + ", so what is in it cannot be trusted",
                   remedy);
  }
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return failure(errc::permission_denied, operation,
                   "others may write to it (its mode is " + mode_text(found.st_mode & 07777U) +
                       "), so what is in it cannot be trusted",
                   "check its content, then 'chmod 700' it; or " + remedy);
  }
  return folder;
}

}  // namespace

std::string user_text(uid_t user) { return "user " + std::to_string(user); }

result<unique_fd> open_own_folder(const std::string& path, const std::string& remedy) {
  // With a slash at the end, a link would be followed.
  std::string bare = path;
  while (bare.size() > 1 && bare.back() == '/') bare.pop_back();
  std::error_code failed;
  const auto parent = std::filesystem::path(bare).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, failed);
  if (failed) {
    return system_failure(failed.value(), "make the folder '" + parent.string() + "'", remedy);
  }
  return open_at(AT_FDCWD, bare, path, remedy);
}

result<unique_fd> open_own_folder_in(int parent, const std::string& name,
                                     const std::string& shown) {
  return open_at(parent, name, shown, "check its content, then remove it");
}

std::string folder_of(const std::string& socket) {
  const auto slash = socket.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : socket.substr(0, slash);
}

result<unique_fd> open_safe_folder(const std::string& path, const std::string& text,
                                   const std::string& remedy) {
  const std::string operation = "trust the folder '" + path + "' of the " + text;
  unique_fd folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat found{};
  if (!folder || ::fstat(folder.get(), &found) != 0) return system_failure(errno, operation);
  const auto replaced = text.substr(text.find_last_of(' ') + 1);
  if (found.st_uid != 0 && found.st_uid != ::geteuid()) {
    return failure(errc::permission_denied, operation,
                   "it belongs to " + user_text(found.st_uid) + ", who may replace the " + replaced,
                   "name a " + replaced + " in a folder of your own or of root's" + remedy);
  }
  const bool is_shared = (found.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (is_shared && (found.st_mode & S_ISVTX) == 0) {
    return failure(errc::permission_denied, operation,
                   "others may write to it (its mode is " + mode_text(found.st_mode & 07777U) +
                       ") and so replace the " + replaced,
                   "'chmod go-w' it, or name a " + replaced + " in another folder" + remedy);
  }
  return folder;
}

std::string path_beside(const std::string& socket, std::string_view kind) {
  constexpr std::string_view usual = "strata";
  constexpr std::string_view suffix = ".sock";
  auto name = socket.substr(socket.find_last_of('/') + 1);
  if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  auto path = folder_of(socket) + "/";
  if (name != usual) path += name + "-";
  return path.append(kind).append(suffix);
}

result<void> check_socket_folder(const std::string& socket) {
  const auto opened = open_safe_folder(folder_of(socket), "control socket", " with --socket");
  if (!opened) return std::unexpected(opened.error());
  return {};
}

}  // namespace strata::options
