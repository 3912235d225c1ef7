; expect: safe
; An undefined argument is an error only where it must be defined. Optimised code
; has such arguments where the callee does not read them.
define i32 @f(i32 %unused) noinline {
  ret i32 0
}
define i32 @main() {
  %r = call i32 @f(i32 poison)
  ret i32 %r
}
