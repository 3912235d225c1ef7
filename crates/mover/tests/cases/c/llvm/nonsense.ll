; expect: error C001
; message: LLVM 19
nonsense
