// expect: error C011
// A function of the program is not taken for one of the checker's own.
int leave_thread(void);
int main(void) {
    leave_thread();
    return 0;
}
