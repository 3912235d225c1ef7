// Waiting for an atomic variable to change, in place of libstdc++'s.
//
// The library spins, keeps tables by address and calls the kernel. Here a thread that waits sleeps on one
// condition variable for all addresses, and a notification wakes everybody: each looks again and goes
// on only if its value has changed. So a thread that nobody notifies stays asleep.

#ifndef _GLIBCXX_ATOMIC_WAIT_H
#define _GLIBCXX_ATOMIC_WAIT_H 1

#pragma GCC system_header

#include <bits/c++config.h>
#if defined _GLIBCXX_HAS_GTHREADS || _GLIBCXX_HAVE_LINUX_FUTEX
#include <bits/functional_hash.h>
#include <bits/gthr.h>
#include <bits/std_mutex.h>
#include <ext/numeric_traits.h>

#define __cpp_lib_atomic_wait 201907L

extern "C" {
void __mover_wait_begin() noexcept;
void __mover_wait_sleep() noexcept;
void __mover_wait_end() noexcept;
void __mover_wait_notify() noexcept;
// Whether the time is over; any answer.
bool __mover_wait_gives_up() noexcept;
}

namespace std _GLIBCXX_VISIBILITY(default) {
_GLIBCXX_BEGIN_NAMESPACE_VERSION
namespace __detail {
using __platform_wait_t = int;
static constexpr size_t __platform_wait_alignment = 4;

inline void __thread_yield() noexcept { __gthread_yield(); }
inline void __thread_relax() noexcept { __gthread_yield(); }

template <typename _Tp> bool __atomic_compare(const _Tp &__a, const _Tp &__b) {
    return __builtin_memcmp(&__a, &__b, sizeof(_Tp)) == 0;
}

struct __default_spin_policy {
    bool operator()() const noexcept { return false; }
};
template <typename _Pred, typename _Spin = __default_spin_policy>
bool __atomic_spin(_Pred &__pred, _Spin = _Spin{}) noexcept {
    return __pred();
}
} // namespace __detail

template <typename _Tp> inline constexpr bool __platform_wait_uses_type = false;

template <typename _Tp, typename _Pred>
void __atomic_wait_address(const _Tp *, _Pred __pred) noexcept {
    if (__pred())
        return;
    __mover_wait_begin();
    while (!__pred())
        __mover_wait_sleep();
    __mover_wait_end();
}
template <typename _Tp, typename _ValFn>
void __atomic_wait_address_v(const _Tp *__addr, _Tp __old, _ValFn __vfn) noexcept {
    std::__atomic_wait_address(__addr,
                               [&] { return !__detail::__atomic_compare<_Tp>(__old, __vfn()); });
}
template <typename _Pred>
void __atomic_wait_address_bare(const __detail::__platform_wait_t *__addr, _Pred __pred) noexcept {
    std::__atomic_wait_address(__addr, __pred);
}
template <typename _Tp> void __atomic_notify_address(const _Tp *, bool) noexcept {
    __mover_wait_notify();
}
inline void __atomic_notify_address_bare(const __detail::__platform_wait_t *, bool) noexcept {
    __mover_wait_notify();
}

_GLIBCXX_END_NAMESPACE_VERSION
} // namespace std
#endif
#endif
