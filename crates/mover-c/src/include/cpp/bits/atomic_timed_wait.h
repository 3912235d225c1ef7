// Waiting for an atomic variable for some time, in place of libstdc++'s. The time may be over at any
// moment.

#ifndef _GLIBCXX_ATOMIC_TIMED_WAIT_H
#define _GLIBCXX_ATOMIC_TIMED_WAIT_H 1

#pragma GCC system_header

#include <bits/atomic_wait.h>

#if __cpp_lib_atomic_wait
#include <bits/chrono.h>
#include <bits/functional_hash.h>

namespace std _GLIBCXX_VISIBILITY(default) {
_GLIBCXX_BEGIN_NAMESPACE_VERSION

template <typename _Pred> bool __mover_wait_some_time(_Pred &__pred) noexcept {
    if (__pred())
        return true;
    if (!__mover_wait_gives_up()) {
        std::__atomic_wait_address(static_cast<const int *>(nullptr), [&] { return __pred(); });
        return true;
    }
    return __pred();
}
template <typename _Tp, typename _ValFn, typename _Time>
bool __atomic_wait_address_until_v(const _Tp *, _Tp &&__old, _ValFn &&__vfn, const _Time &) noexcept {
    auto __pred = [&] { return !__detail::__atomic_compare<_Tp>(__old, __vfn()); };
    return std::__mover_wait_some_time(__pred);
}
template <typename _Tp, typename _Pred, typename _Time>
bool __atomic_wait_address_until(const _Tp *, _Pred __pred, const _Time &) noexcept {
    return std::__mover_wait_some_time(__pred);
}
template <typename _Pred, typename _Time>
bool __atomic_wait_address_until_bare(const __detail::__platform_wait_t *, _Pred __pred,
                                      const _Time &) noexcept {
    return std::__mover_wait_some_time(__pred);
}
template <typename _Tp, typename _ValFn, typename _Time>
bool __atomic_wait_address_for_v(const _Tp *, _Tp &&__old, _ValFn &&__vfn, const _Time &) noexcept {
    auto __pred = [&] { return !__detail::__atomic_compare<_Tp>(__old, __vfn()); };
    return std::__mover_wait_some_time(__pred);
}
template <typename _Tp, typename _Pred, typename _Time>
bool __atomic_wait_address_for(const _Tp *, _Pred __pred, const _Time &) noexcept {
    return std::__mover_wait_some_time(__pred);
}
template <typename _Pred, typename _Time>
bool __atomic_wait_address_for_bare(const __detail::__platform_wait_t *, _Pred __pred,
                                    const _Time &) noexcept {
    return std::__mover_wait_some_time(__pred);
}

_GLIBCXX_END_NAMESPACE_VERSION
} // namespace std
#endif
#endif
