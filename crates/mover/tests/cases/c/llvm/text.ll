; expect: unsafe unreach-call
; LLVM IR is read as it is.
; message: reach_error() is called
@x = global i32 0
declare void @reach_error()
define i32 @main() {
  store i32 5, ptr @x
  %v = load i32, ptr @x
  %c = icmp eq i32 %v, 5
  br i1 %c, label %bad, label %good
bad:
  call void @reach_error()
  unreachable
good:
  ret i32 0
}
