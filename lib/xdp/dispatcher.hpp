// libxdp's dispatcher: if several XDP programs share an interface, the attached program is
// libxdp's, which calls each of them in turn.
//
// Our program then runs beside the others, and passes the frames that match no filter on to the
// next. libxdp pins the programs that it attaches in /sys/fs/bpf, so our program does not end with
// its process there: a killed process leaves it in the dispatcher, where it passes every frame,
// since its sockets are gone. `xdp-loader status` shows it and `xdp-loader unload` removes it, both
// in the interface's network namespace.
#pragma once

#include <memory>
#include <string>

#include "strata/base/result.hpp"
#include "strata/xdp/program.hpp"

struct bpf_object;
struct xdp_program;

namespace strata::xdp {

/// Our program's place in the dispatcher of an interface.
class dispatcher_seat {
 public:
  /// Loads the program of `object`, which is not loaded yet, and adds it to the dispatcher, which
  /// is attached in native mode if `is_native`. Destroy the seat before `object`. Errors: conflict
  /// if the dispatcher's mode is not `mode`; permission_denied; those of libxdp.
  [[nodiscard]] static result<dispatcher_seat> take(bpf_object* object, const char* program,
                                                    int interface_index, const std::string& name,
                                                    attach_mode mode, bool is_native);
  dispatcher_seat(dispatcher_seat&&) noexcept = default;
  dispatcher_seat& operator=(dispatcher_seat&&) = delete;
  ~dispatcher_seat();

  [[nodiscard]] bool is_native() const { return is_native_; }

 private:
  struct close_program {
    void operator()(xdp_program* program) const;
  };
  using seated_program = std::unique_ptr<xdp_program, close_program>;

  dispatcher_seat(seated_program seated, int interface_index, bool is_native)
      : seated_(std::move(seated)), interface_index_(interface_index), is_native_(is_native) {}

  seated_program seated_;
  int interface_index_;
  bool is_native_;
};

}  // namespace strata::xdp
