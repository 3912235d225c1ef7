; expect: error C013
; message: no function `main`

