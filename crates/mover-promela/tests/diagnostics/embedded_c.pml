c_decl { typedef struct { int x; } S; };
c_state "S s" "Global"
byte x;
active proctype p() {
    c_code { now.s.x = 1; }
    if :: c_expr { now.s.x } -> skip fi;
    x = 1
}
