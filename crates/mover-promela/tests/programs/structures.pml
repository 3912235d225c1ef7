typedef In { byte a; bit b[2] };
typedef Out { In i[2]; short s; byte n };
Out o[2];
active proctype p() { byte k = 1; o[k].i[k].b[1] = 1; o[0].i[1].a = 5; o[k].s = -3; o[1].n = o[0].i[k].a + o[1].i[1].b[1]; assert(o[1].n == 6) }
