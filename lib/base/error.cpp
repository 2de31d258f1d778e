#include "strata/base/error.hpp"

#include <cerrno>
#include <cstring>

namespace strata {

namespace {

errc code_for(int sys_errno) {
  switch (sys_errno) {
    case EINVAL:
    case ENAMETOOLONG:
    case EAFNOSUPPORT: return errc::invalid_argument;
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EADDRNOTAVAIL: return errc::not_found;
    case EEXIST: return errc::already_exists;
    case EADDRINUSE:
    case EBUSY:
    case ENOTCONN: return errc::conflict;
    case EACCES:
    case EPERM: return errc::permission_denied;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case EMSGSIZE: return errc::limit_exceeded;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return errc::no_space;
    case ECONNRESET:
    case ECONNREFUSED:
    case ECONNABORTED:
    case EPIPE:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTUNREACH: return errc::connection_closed;
    case ETIMEDOUT: return errc::timed_out;
    case ECANCELED: return errc::canceled;
    case ENOSYS:
    case EOPNOTSUPP:
    case EPROTONOSUPPORT: return errc::not_supported;
    default: return errc::system;
  }
}

/// Returns the reason for a sentence that has no better one.
const char* reason_of(errc code) {
  switch (code) {
    case errc::invalid_argument: return "it is not valid";
    case errc::malformed: return "it is malformed";
    case errc::not_found: return "it does not exist";
    case errc::already_exists: return "it already exists";
    case errc::conflict: return "it conflicts with the current state";
    case errc::permission_denied: return "it is not permitted";
    case errc::limit_exceeded: return "a limit is reached";
    case errc::no_space: return "no space is left";
    case errc::connection_closed: return "the connection is closed";
    case errc::timed_out: return "it timed out";
    case errc::canceled: return "it was canceled";
    case errc::not_supported: return "it is not supported";
    case errc::system: break;
  }
  return "the system failed";
}

// Returns the remedy of an errno whose meaning does not depend on the operation.
const char* sole_remedy_for(int sys_errno) {
  switch (sys_errno) {
    case EMFILE: return "raise the limit of open files (ulimit -n)";
    case ENFILE: return "raise the machine's limit of open files (sysctl fs.file-max)";
    default: return nullptr;
  }
}

}  // namespace

error system_error(int sys_errno, std::string operation, std::string remedy) {
  if (const char* sole = sole_remedy_for(sys_errno); sole != nullptr) remedy = sole;
  return {.code = code_for(sys_errno),
          .operation = std::move(operation),
          .sys_errno = sys_errno,
          .reason = {},
          .remedy = std::move(remedy),
          .offset = {}};
}

std::string_view name_of(errc code) {
  switch (code) {
    case errc::invalid_argument: return "invalid_argument";
    case errc::malformed: return "malformed";
    case errc::not_found: return "not_found";
    case errc::already_exists: return "already_exists";
    case errc::conflict: return "conflict";
    case errc::permission_denied: return "permission_denied";
    case errc::limit_exceeded: return "limit_exceeded";
    case errc::no_space: return "no_space";
    case errc::connection_closed: return "connection_closed";
    case errc::timed_out: return "timed_out";
    case errc::canceled: return "canceled";
    case errc::not_supported: return "not_supported";
    case errc::system: return "system";
  }
  return "system";
}

std::string describe(const error& failure) {
  std::string text = "cannot " + failure.operation;
  std::string why = failure.reason;
  if (failure.sys_errno != 0) {
    if (!why.empty()) why += ": ";
    why += std::strerror(failure.sys_errno);
  }
  if (why.empty()) why = reason_of(failure.code);
  text += ": " + why;
  if (failure.offset) text += " (at byte " + std::to_string(*failure.offset) + ")";
  if (!failure.remedy.empty()) text += "; " + failure.remedy;
  return text;
}

}  // namespace strata
