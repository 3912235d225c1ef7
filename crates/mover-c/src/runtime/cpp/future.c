/* What std::future keeps in the library's binary. */

extern const void *const _ZTVN10__cxxabiv117__class_type_infoE[3];
void _ZNSt13__future_base12_Result_baseC2Ev(void **this) {
    extern const void *const _ZTVNSt13__future_base12_Result_baseE[5];
    this[0] = (void *)(_ZTVNSt13__future_base12_Result_baseE + 2);
    this[1] = 0;
}
void _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void **this);
void _ZNSt13__future_base12_Result_baseD2Ev(void **this) {
    _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(&this[1]);
}
struct __mover_class {
    const void *const *table;
    const char *name;
};
const struct __mover_class _ZTINSt13__future_base12_Result_baseE = {_ZTVN10__cxxabiv117__class_type_infoE + 2, "NSt13__future_base12_Result_baseE"};
const void *const _ZTVNSt13__future_base12_Result_baseE[5] = {0, &_ZTINSt13__future_base12_Result_baseE, 0, 0, 0};
void _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(void *this) {
    __mover_unsupported("`set_value_at_thread_exit`");
}
