#include "abi/error.hpp"

#include <cerrno>
#include <string>

namespace strata::abi {

namespace {

thread_local std::string last;

int errno_of(const error& failure) {
  if (failure.sys_errno != 0) return failure.sys_errno;
  switch (failure.code) {
    case errc::malformed: return EBADMSG;
    case errc::not_found: return ENODEV;
    case errc::already_exists: return EEXIST;
    case errc::conflict: return EBUSY;
    case errc::permission_denied: return EPERM;
    case errc::limit_exceeded: return EMSGSIZE;
    case errc::connection_closed: return ECONNRESET;
    case errc::timed_out: return ETIMEDOUT;
    case errc::not_supported: return EOPNOTSUPP;
    default: return EINVAL;
  }
}

}  // namespace

int fail(const error& failure) {
  last = describe(failure);
  return -errno_of(failure);
}

int fail_missing(const char* text) {
  return fail({.code = errc::invalid_argument,
               .operation = std::string("use ") + text,
               .reason = "it is NULL",
               .remedy = {},
               .offset = {}});
}

const char* last_error() { return last.empty() ? "no error" : last.c_str(); }

}  // namespace strata::abi
