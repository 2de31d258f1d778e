#include "loop/fiber.hpp"

#include <boost/context/protected_fixedsize_stack.hpp>
#include <memory>
#include <utility>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STRATA_NOTES_ADDRESSES
#endif
#if __has_feature(thread_sanitizer)
#define STRATA_NOTES_THREADS
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define STRATA_NOTES_ADDRESSES
#endif
#ifdef __SANITIZE_THREAD__
#define STRATA_NOTES_THREADS
#endif
#ifdef STRATA_NOTES_ADDRESSES
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef STRATA_NOTES_THREADS
#include <sanitizer/tsan_interface.h>
#endif

namespace strata::loop {

namespace {

// As a thread has: what runs on it may run there too. Only what is used takes memory.
constexpr std::size_t stack_size = 8U << 20U;

}  // namespace

fiber::fiber() {
  boost::context::protected_fixedsize_stack allocator(stack_size);
  const auto stack = allocator.allocate();
  here_.size = stack.size;
  here_.bottom = static_cast<const char*>(stack.sp) - stack.size;
#ifdef STRATA_NOTES_THREADS
  here_.thread = __tsan_create_fiber(0);
#endif
  inside_ = boost::context::fiber(std::allocator_arg,
                                  boost::context::preallocated(stack.sp, stack.size, stack),
                                  allocator, [this](boost::context::fiber&& outside) {
                                    serve(std::move(outside));
                                    return std::move(outside_);
                                  });
}

fiber::~fiber() {
  is_over_ = true;
  enter();
#ifdef STRATA_NOTES_THREADS
  __tsan_destroy_fiber(here_.thread);
#endif
}

bool fiber::run(std::function<void()> body) {
  body_ = std::move(body);
  enter();
  return !body_;
}

bool fiber::resume() {
  enter();
  return !body_;
}

void fiber::interrupt() {
  note_leaving(here_, there_, false);
  outside_ = std::move(outside_).resume();
  note_arrival(here_, &there_);
}

void fiber::serve(boost::context::fiber&& outside) {
  outside_ = std::move(outside);
  note_arrival(here_, &there_);
  while (!is_over_) {
    body_();
    body_ = nullptr;
    interrupt();
  }
  note_leaving(here_, there_, true);
}

void fiber::enter() {
#ifdef STRATA_NOTES_THREADS
  there_.thread = __tsan_get_current_fiber();
#endif
  note_leaving(there_, here_, false);
  is_inside_ = true;
  inside_ = std::move(inside_).resume();
  is_inside_ = false;
  note_arrival(there_, nullptr);
}

#if defined(STRATA_NOTES_ADDRESSES)

void fiber::note_leaving(stack_notes& left, const stack_notes& entered, bool ends) {
  __sanitizer_start_switch_fiber(ends ? nullptr : &left.fake, entered.bottom, entered.size);
}

void fiber::note_arrival(stack_notes& entered, stack_notes* left) {
  if (left == nullptr) {
    __sanitizer_finish_switch_fiber(entered.fake, nullptr, nullptr);
  } else {
    __sanitizer_finish_switch_fiber(entered.fake, &left->bottom, &left->size);
  }
}

#elif defined(STRATA_NOTES_THREADS)

void fiber::note_leaving(stack_notes& /*left*/, const stack_notes& entered, bool /*ends*/) {
  __tsan_switch_to_fiber(entered.thread, 0);
}

void fiber::note_arrival(stack_notes& /*entered*/, stack_notes* /*left*/) {}

#else

void fiber::note_leaving(stack_notes& /*left*/, const stack_notes& /*entered*/, bool /*ends*/) {}
void fiber::note_arrival(stack_notes& /*entered*/, stack_notes* /*left*/) {}

#endif

}  // namespace strata::loop
