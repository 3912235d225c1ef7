// expect: safe
// engines: explicit/none,dynamic
// options: -DCONDITION=0
// expect: unsafe unreach-call
// engines: explicit/dynamic
// options: -DCONDITION=(x==7)
// expect: unsafe unreach-call
// engines: explicit/dynamic
// options: -DCONDITION=(x<-100)
// expect: unsafe unreach-call
// engines: explicit/dynamic
// options: -DCONDITION=(x>7&&x<9)
// expect: unsafe unreach-call
// engines: explicit/dynamic
// options: -DCONDITION=((unsigned)x>0x80000000u)
// expect: unsafe unreach-call
// engines: explicit/dynamic
// options: -DCONDITION=(x!=7&&x!=0&&x!=1)
// expect: safe
// engines: explicit/dynamic
// options: -DCONDITION=(x>7&&x<8)
// expect: safe
// engines: explicit/dynamic
// options: -DCONDITION=(x<-2147483647-1)
// A value that is only compared with constants: explicit search tries one of each interval.
void reach_error(void);

int main(void) {
    int x;
    if (CONDITION) reach_error();
    return 0;
}
