/* new and delete. A program may have its own. */

void free(void *);
void _ZSt17__throw_bad_allocv(void);
static void *__mover_new(size_t size) {
    void *new = __mover_allocate(size);
#ifdef __mover_MALLOC_MAY_FAIL
    if (!new)
        _ZSt17__throw_bad_allocv();
#endif
    return new;
}
__attribute__((weak)) void *_Znwm(size_t size) { return __mover_new(size); }
__attribute__((weak)) void *_Znam(size_t size) { return __mover_new(size); }
__attribute__((weak)) void *_ZnwmSt11align_val_t(size_t size, size_t alignment) { return __mover_new(size); }
__attribute__((weak)) void *_ZnamSt11align_val_t(size_t size, size_t alignment) { return __mover_new(size); }
__attribute__((weak)) void *_ZnwmRKSt9nothrow_t(size_t size, const void *tag) { return __mover_allocate(size); }
__attribute__((weak)) void *_ZnamRKSt9nothrow_t(size_t size, const void *tag) { return __mover_allocate(size); }
__attribute__((weak)) void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void *tag) { return __mover_allocate(size); }
__attribute__((weak)) void _ZdlPv(void *p) { free(p); }
__attribute__((weak)) void _ZdaPv(void *p) { free(p); }
__attribute__((weak)) void _ZdlPvm(void *p, size_t size) { free(p); }
__attribute__((weak)) void _ZdaPvm(void *p, size_t size) { free(p); }
__attribute__((weak)) void _ZdlPvSt11align_val_t(void *p, size_t alignment) { free(p); }
__attribute__((weak)) void _ZdaPvSt11align_val_t(void *p, size_t alignment) { free(p); }
__attribute__((weak)) void _ZdlPvmSt11align_val_t(void *p, size_t size, size_t alignment) { free(p); }
__attribute__((weak)) void _ZdaPvmSt11align_val_t(void *p, size_t size, size_t alignment) { free(p); }
__attribute__((weak)) void _ZdlPvRKSt9nothrow_t(void *p, const void *tag) { free(p); }
__attribute__((weak)) void _ZdaPvRKSt9nothrow_t(void *p, const void *tag) { free(p); }
const char _ZSt7nothrow = 0;

/* std::allocator<char>, of which libstdc++ keeps what is not inline in its binary. */
void _ZNSaIcEC1Ev(void *this) {}
void _ZNSaIcEC2Ev(void *this) {}
void _ZNSaIcEC1ERKS_(void *this, const void *other) {}
void _ZNSaIcEC2ERKS_(void *this, const void *other) {}
void _ZNSaIcED1Ev(void *this) {}
void _ZNSaIcED2Ev(void *this) {}
void *_ZNSaIcE8allocateEm(void *this, size_t size) { return _Znwm(size); }
void _ZNSaIcE10deallocateEPcm(void *this, char *p, size_t size) { _ZdlPv(p); }

/* The streams of a program are there from the begin to the end. */
void _ZNSt8ios_base4InitC1Ev(void *this) {}
void _ZNSt8ios_base4InitD1Ev(void *this) {}
void _ZNSt8ios_base4InitC2Ev(void *this) {}
void _ZNSt8ios_base4InitD2Ev(void *this) {}

/* What std::future keeps its result in. */
extern const void *const _ZTVN10__cxxabiv117__class_type_infoE[3];
