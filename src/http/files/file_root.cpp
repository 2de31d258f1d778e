#include "http/files/file_root.hpp"

#include <cerrno>

namespace strata::http {

int status_of_open(int failed_with) {
  switch (failed_with) {
    case EACCES:
    case EPERM: return 403;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
    case EIO: return 503;
    default: return 404;
  }
}

}  // namespace strata::http
