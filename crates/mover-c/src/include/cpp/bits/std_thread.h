// std::thread, in place of libstdc++'s.
//
// The library starts every thread with one function of its binary, which calls a virtual function.
// Here a thread starts with a function of its own type, so that mover knows what it runs. A
// function that is passed by its name is passed on separately (`__mover_start_bound`), so that it is
// known where it is constant.

#ifndef _GLIBCXX_THREAD_H
#define _GLIBCXX_THREAD_H 1

#pragma GCC system_header

#if __cplusplus >= 201103L
#include <bits/c++config.h>

#include <bits/exception_defines.h>
#include <bits/functional_hash.h>
#include <bits/gthr.h>
#include <bits/invoke.h>
#include <bits/move.h>
#include <bits/refwrap.h>
#include <bits/unique_ptr.h>
#include <iosfwd>
#include <tuple>
#if __cplusplus > 201703L
#include <compare>
#endif

extern "C" {
// The reason is a constant.
[[noreturn]] void __mover_terminate(const char *);
// Creates a thread that runs `bound(state, function)` where the function is known, else `run(state)`.
int __mover_start_bound(__gthread_t *, void *(*run)(void *), void *state, void *bound, void *function);
}

namespace std _GLIBCXX_VISIBILITY(default) {
_GLIBCXX_BEGIN_NAMESPACE_VERSION

class thread {
public:
    using native_handle_type = __gthread_t;

    class id {
        native_handle_type _M_thread;

    public:
        id() noexcept : _M_thread() {}
        explicit id(native_handle_type __id) : _M_thread(__id) {}

    private:
        friend class thread;
        friend struct hash<id>;
        friend bool operator==(id __x, id __y) noexcept;
#if __cpp_lib_three_way_comparison
        friend strong_ordering operator<=>(id __x, id __y) noexcept;
#else
        friend bool operator<(id __x, id __y) noexcept;
#endif
        template <class _CharT, class _Traits>
        friend basic_ostream<_CharT, _Traits> &operator<<(basic_ostream<_CharT, _Traits> &__out,
                                                          id __id);
    };

private:
    id _M_id;

    template <typename _Tp>
    using __not_same = __not_<is_same<__remove_cvref_t<_Tp>, thread>>;

    // Calls the first element of a tuple with the others.
    template <typename _Tuple> struct _Invoker {
        _Tuple _M_t;

        template <typename> struct __result;
        template <typename _Fn, typename... _Args>
        struct __result<tuple<_Fn, _Args...>> : __invoke_result<_Fn, _Args...> {};

        template <size_t... _Ind>
        typename __result<_Tuple>::type _M_invoke(_Index_tuple<_Ind...>) {
            return std::__invoke(std::get<_Ind>(std::move(_M_t))...);
        }

        template <typename _Fn, size_t... _Ind> void _M_invoke_bound(_Fn __f, _Index_tuple<_Ind...>) {
            std::__invoke(__f, std::get<_Ind + 1>(std::move(_M_t))...);
        }

        typename __result<_Tuple>::type operator()() {
            using _Indices = typename _Build_index_tuple<tuple_size<_Tuple>::value>::__type;
            return _M_invoke(_Indices());
        }

        template <typename _Fn> void _M_call_bound(_Fn __f) {
            using _Indices = typename _Build_index_tuple<tuple_size<_Tuple>::value - 1>::__type;
            _M_invoke_bound(__f, _Indices());
        }
    };

public:
    template <typename... _Tp> using _Call_wrapper = _Invoker<tuple<typename decay<_Tp>::type...>>;

private:
    // What a thread begins with. An exception that leaves it ends the program.
    template <typename _Wrapper> static void *_S_run(void *__p) {
        unique_ptr<_Wrapper> __state(static_cast<_Wrapper *>(__p));
        (*__state)();
        return nullptr;
    }

    template <typename _Wrapper, typename _Fn> static void *_S_run_bound(void *__p, _Fn __f) {
        unique_ptr<_Wrapper> __state(static_cast<_Wrapper *>(__p));
        __state->_M_call_bound(__f);
        return nullptr;
    }

public:
    thread() noexcept = default;

    template <typename _Callable, typename... _Args, typename = _Require<__not_same<_Callable>>>
    explicit thread(_Callable &&__f, _Args &&...__args) {
        static_assert(
            __is_invocable<typename decay<_Callable>::type, typename decay<_Args>::type...>::value,
            "std::thread arguments must be invocable after conversion to rvalues");
        using _Wrapper = _Call_wrapper<_Callable, _Args...>;
        using _Fn = typename decay<_Callable>::type;
        unique_ptr<_Wrapper> __state(
            new _Wrapper{{std::forward<_Callable>(__f), std::forward<_Args>(__args)...}});
        if constexpr (is_pointer<_Fn>::value && is_function<typename remove_pointer<_Fn>::type>::value) {
            _Fn __function = __f;
            __mover_start_bound(&_M_id._M_thread, &_S_run<_Wrapper>, __state.get(),
                                reinterpret_cast<void *>(&_S_run_bound<_Wrapper, _Fn>),
                                reinterpret_cast<void *>(__function));
        } else
            __gthread_create(&_M_id._M_thread, &_S_run<_Wrapper>, __state.get());
        __state.release();
    }

    ~thread() {
        if (joinable())
            __mover_terminate("a std::thread that is joinable is destroyed");
    }

    thread(const thread &) = delete;
    thread(thread &&__t) noexcept { swap(__t); }
    thread &operator=(const thread &) = delete;
    thread &operator=(thread &&__t) noexcept {
        if (joinable())
            __mover_terminate("a std::thread that is joinable is assigned to");
        swap(__t);
        return *this;
    }

    void swap(thread &__t) noexcept { std::swap(_M_id, __t._M_id); }
    bool joinable() const noexcept { return !(_M_id == id()); }
    void join();
    void detach();
    id get_id() const noexcept { return _M_id; }
    native_handle_type native_handle() { return _M_id._M_thread; }
    static unsigned int hardware_concurrency() noexcept;
};

inline void swap(thread &__x, thread &__y) noexcept { __x.swap(__y); }

inline bool operator==(thread::id __x, thread::id __y) noexcept {
    return __x._M_thread == __y._M_thread;
}

template <> struct hash<thread::id> : public __hash_base<size_t, thread::id> {
    size_t operator()(const thread::id &__id) const noexcept {
        return std::_Hash_impl::hash(__id._M_thread);
    }
};

namespace this_thread {
inline thread::id get_id() noexcept { return thread::id(__gthread_self()); }
inline void yield() noexcept { __gthread_yield(); }
} // namespace this_thread

_GLIBCXX_END_NAMESPACE_VERSION
} // namespace std
#endif
#endif
