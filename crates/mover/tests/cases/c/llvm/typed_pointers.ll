; expect: error C001
; The pointer types of LLVM 14 and before.
; message: LLVM 19
@x = global i32 0
define i32 @main() {
  %p = getelementptr i32, i32* @x, i64 0
  ret i32 0
}
@y = global %opaque* null
