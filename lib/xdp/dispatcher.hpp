// libxdp's dispatcher: where several XDP programs share an interface, the one that is attached
// there is libxdp's, and calls each of them in turn.
//
// Ours runs beside the others then, and passes on to the next what no filter is about. libxdp pins
// what it attaches in /sys/fs/bpf, so there our program does not end with its process: a killed one
// leaves it in the dispatcher, where it passes every frame, its sockets being gone.
// `xdp-loader status` shows it and `xdp-loader unload` removes it. In the interface's network
// namespace.
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
  /// Loads the program of `object`, which is not loaded yet, and has the dispatcher, which is
  /// attached in native mode or not, call it. Destroy the seat before `object`. Errors: conflict
  /// when that is another mode than `mode`; permission_denied; what libxdp met.
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
