/* The exceptions of the library: descriptions of their types, tables of their virtual functions, and the
 * functions that throw them. The text of an exception is a copy of its own. */

extern const void *const _ZTVN10__cxxabiv117__class_type_infoE[3];
extern const void *const _ZTVN10__cxxabiv120__si_class_type_infoE[3];
struct __mover_type {
    const void *const *table;
    const char *name;
    const void *base;
};
struct __mover_error {
    const void *const *table;
    char *text;
};
/* The begin of std::string. */
struct __mover_string {
    const char *start;
    size_t length;
};
void *__cxa_allocate_exception(size_t size);
void __cxa_throw(void *object, const void *type, void (*destroy)(void *));
void free(void *);
char *__mover_strdup(const char *text);

void _ZNSt9exceptionD2Ev(void *this) {}
void _ZNSt9exceptionD1Ev(void *this) {}
void _ZNSt9exceptionD0Ev(void *this) { free(this); }
const char *_ZNKSt9exception4whatEv(void *this) { return "std::exception"; }
const struct __mover_type _ZTISt9exception = {_ZTVN10__cxxabiv117__class_type_infoE + 2, "St9exception", 0};
const void *const _ZTVSt9exception[5] = {0, &_ZTISt9exception, _ZNSt9exceptionD1Ev, _ZNSt9exceptionD0Ev, _ZNKSt9exception4whatEv};


void _ZNSt13bad_exceptionD2Ev(void *this) {}
void _ZNSt13bad_exceptionD1Ev(void *this) {}
void _ZNSt13bad_exceptionD0Ev(void *this) { free(this); }
const char *_ZNKSt13bad_exception4whatEv(void *this) { return "std::bad_exception"; }
const struct __mover_type _ZTISt13bad_exception = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St13bad_exception", &_ZTISt9exception};
const void *const _ZTVSt13bad_exception[5] = {0, &_ZTISt13bad_exception, _ZNSt13bad_exceptionD1Ev, _ZNSt13bad_exceptionD0Ev, _ZNKSt13bad_exception4whatEv};

void _ZNSt9bad_allocD2Ev(void *this) {}
void _ZNSt9bad_allocD1Ev(void *this) {}
void _ZNSt9bad_allocD0Ev(void *this) { free(this); }
const char *_ZNKSt9bad_alloc4whatEv(void *this) { return "std::bad_alloc"; }
const struct __mover_type _ZTISt9bad_alloc = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St9bad_alloc", &_ZTISt9exception};
const void *const _ZTVSt9bad_alloc[5] = {0, &_ZTISt9bad_alloc, _ZNSt9bad_allocD1Ev, _ZNSt9bad_allocD0Ev, _ZNKSt9bad_alloc4whatEv};

void _ZNSt8bad_castD2Ev(void *this) {}
void _ZNSt8bad_castD1Ev(void *this) {}
void _ZNSt8bad_castD0Ev(void *this) { free(this); }
const char *_ZNKSt8bad_cast4whatEv(void *this) { return "std::bad_cast"; }
const struct __mover_type _ZTISt8bad_cast = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St8bad_cast", &_ZTISt9exception};
const void *const _ZTVSt8bad_cast[5] = {0, &_ZTISt8bad_cast, _ZNSt8bad_castD1Ev, _ZNSt8bad_castD0Ev, _ZNKSt8bad_cast4whatEv};

void _ZNSt10bad_typeidD2Ev(void *this) {}
void _ZNSt10bad_typeidD1Ev(void *this) {}
void _ZNSt10bad_typeidD0Ev(void *this) { free(this); }
const char *_ZNKSt10bad_typeid4whatEv(void *this) { return "std::bad_typeid"; }
const struct __mover_type _ZTISt10bad_typeid = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St10bad_typeid", &_ZTISt9exception};
const void *const _ZTVSt10bad_typeid[5] = {0, &_ZTISt10bad_typeid, _ZNSt10bad_typeidD1Ev, _ZNSt10bad_typeidD0Ev, _ZNKSt10bad_typeid4whatEv};

void _ZNSt20bad_array_new_lengthD2Ev(void *this) {}
void _ZNSt20bad_array_new_lengthD1Ev(void *this) {}
void _ZNSt20bad_array_new_lengthD0Ev(void *this) { free(this); }
const char *_ZNKSt20bad_array_new_length4whatEv(void *this) { return "std::bad_array_new_length"; }
const struct __mover_type _ZTISt20bad_array_new_length = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St20bad_array_new_length", &_ZTISt9bad_alloc};
const void *const _ZTVSt20bad_array_new_length[5] = {0, &_ZTISt20bad_array_new_length, _ZNSt20bad_array_new_lengthD1Ev, _ZNSt20bad_array_new_lengthD0Ev, _ZNKSt20bad_array_new_length4whatEv};

void _ZNSt17bad_function_callD2Ev(void *this) {}
void _ZNSt17bad_function_callD1Ev(void *this) {}
void _ZNSt17bad_function_callD0Ev(void *this) { free(this); }
const char *_ZNKSt17bad_function_call4whatEv(void *this) { return "std::bad_function_call"; }
const struct __mover_type _ZTISt17bad_function_call = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St17bad_function_call", &_ZTISt9exception};
const void *const _ZTVSt17bad_function_call[5] = {0, &_ZTISt17bad_function_call, _ZNSt17bad_function_callD1Ev, _ZNSt17bad_function_callD0Ev, _ZNKSt17bad_function_call4whatEv};

void _ZNSt12bad_weak_ptrD2Ev(void *this) {}
void _ZNSt12bad_weak_ptrD1Ev(void *this) {}
void _ZNSt12bad_weak_ptrD0Ev(void *this) { free(this); }
const char *_ZNKSt12bad_weak_ptr4whatEv(void *this) { return "std::bad_weak_ptr"; }
const struct __mover_type _ZTISt12bad_weak_ptr = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St12bad_weak_ptr", &_ZTISt9exception};
const void *const _ZTVSt12bad_weak_ptr[5] = {0, &_ZTISt12bad_weak_ptr, _ZNSt12bad_weak_ptrD1Ev, _ZNSt12bad_weak_ptrD0Ev, _ZNKSt12bad_weak_ptr4whatEv};

void _ZNSt11logic_errorD2Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt11logic_errorD1Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt11logic_errorD0Ev(struct __mover_error *this) {
    free(this->text);
    free(this);
}
const char *_ZNKSt11logic_error4whatEv(struct __mover_error *this) { return this->text; }
const struct __mover_type _ZTISt11logic_error = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St11logic_error", &_ZTISt9exception};
const void *const _ZTVSt11logic_error[5] = {0, &_ZTISt11logic_error, _ZNSt11logic_errorD1Ev, _ZNSt11logic_errorD0Ev, _ZNKSt11logic_error4whatEv};
void _ZNSt11logic_errorC1EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt11logic_error + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt11logic_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt11logic_error + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt11logic_errorC1ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt11logic_error + 2;
    this->text = __mover_strdup(other->text);
}
void _ZNSt11logic_errorC2EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt11logic_error + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt11logic_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt11logic_error + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt11logic_errorC2ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt11logic_error + 2;
    this->text = __mover_strdup(other->text);
}

void _ZNSt16invalid_argumentD2Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt16invalid_argumentD1Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt16invalid_argumentD0Ev(struct __mover_error *this) {
    free(this->text);
    free(this);
}
const struct __mover_type _ZTISt16invalid_argument = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St16invalid_argument", &_ZTISt11logic_error};
const void *const _ZTVSt16invalid_argument[5] = {0, &_ZTISt16invalid_argument, _ZNSt16invalid_argumentD1Ev, _ZNSt16invalid_argumentD0Ev, _ZNKSt11logic_error4whatEv};
void _ZNSt16invalid_argumentC1EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt16invalid_argument + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt16invalid_argumentC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt16invalid_argument + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt16invalid_argumentC1ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt16invalid_argument + 2;
    this->text = __mover_strdup(other->text);
}
void _ZNSt16invalid_argumentC2EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt16invalid_argument + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt16invalid_argumentC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt16invalid_argument + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt16invalid_argumentC2ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt16invalid_argument + 2;
    this->text = __mover_strdup(other->text);
}

void _ZNSt12domain_errorD2Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt12domain_errorD1Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt12domain_errorD0Ev(struct __mover_error *this) {
    free(this->text);
    free(this);
}
const struct __mover_type _ZTISt12domain_error = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St12domain_error", &_ZTISt11logic_error};
const void *const _ZTVSt12domain_error[5] = {0, &_ZTISt12domain_error, _ZNSt12domain_errorD1Ev, _ZNSt12domain_errorD0Ev, _ZNKSt11logic_error4whatEv};
void _ZNSt12domain_errorC1EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt12domain_error + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt12domain_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt12domain_error + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt12domain_errorC1ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt12domain_error + 2;
    this->text = __mover_strdup(other->text);
}
void _ZNSt12domain_errorC2EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt12domain_error + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt12domain_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt12domain_error + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt12domain_errorC2ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt12domain_error + 2;
    this->text = __mover_strdup(other->text);
}

void _ZNSt12length_errorD2Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt12length_errorD1Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt12length_errorD0Ev(struct __mover_error *this) {
    free(this->text);
    free(this);
}
const struct __mover_type _ZTISt12length_error = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St12length_error", &_ZTISt11logic_error};
const void *const _ZTVSt12length_error[5] = {0, &_ZTISt12length_error, _ZNSt12length_errorD1Ev, _ZNSt12length_errorD0Ev, _ZNKSt11logic_error4whatEv};
void _ZNSt12length_errorC1EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt12length_error + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt12length_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt12length_error + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt12length_errorC1ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt12length_error + 2;
    this->text = __mover_strdup(other->text);
}
void _ZNSt12length_errorC2EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt12length_error + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt12length_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt12length_error + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt12length_errorC2ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt12length_error + 2;
    this->text = __mover_strdup(other->text);
}

void _ZNSt12out_of_rangeD2Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt12out_of_rangeD1Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt12out_of_rangeD0Ev(struct __mover_error *this) {
    free(this->text);
    free(this);
}
const struct __mover_type _ZTISt12out_of_range = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St12out_of_range", &_ZTISt11logic_error};
const void *const _ZTVSt12out_of_range[5] = {0, &_ZTISt12out_of_range, _ZNSt12out_of_rangeD1Ev, _ZNSt12out_of_rangeD0Ev, _ZNKSt11logic_error4whatEv};
void _ZNSt12out_of_rangeC1EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt12out_of_range + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt12out_of_rangeC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt12out_of_range + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt12out_of_rangeC1ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt12out_of_range + 2;
    this->text = __mover_strdup(other->text);
}
void _ZNSt12out_of_rangeC2EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt12out_of_range + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt12out_of_rangeC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt12out_of_range + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt12out_of_rangeC2ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt12out_of_range + 2;
    this->text = __mover_strdup(other->text);
}

void _ZNSt13runtime_errorD2Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt13runtime_errorD1Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt13runtime_errorD0Ev(struct __mover_error *this) {
    free(this->text);
    free(this);
}
const char *_ZNKSt13runtime_error4whatEv(struct __mover_error *this) { return this->text; }
const struct __mover_type _ZTISt13runtime_error = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St13runtime_error", &_ZTISt9exception};
const void *const _ZTVSt13runtime_error[5] = {0, &_ZTISt13runtime_error, _ZNSt13runtime_errorD1Ev, _ZNSt13runtime_errorD0Ev, _ZNKSt13runtime_error4whatEv};
void _ZNSt13runtime_errorC1EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt13runtime_error + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt13runtime_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt13runtime_error + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt13runtime_errorC1ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt13runtime_error + 2;
    this->text = __mover_strdup(other->text);
}
void _ZNSt13runtime_errorC2EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt13runtime_error + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt13runtime_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt13runtime_error + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt13runtime_errorC2ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt13runtime_error + 2;
    this->text = __mover_strdup(other->text);
}

void _ZNSt11range_errorD2Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt11range_errorD1Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt11range_errorD0Ev(struct __mover_error *this) {
    free(this->text);
    free(this);
}
const struct __mover_type _ZTISt11range_error = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St11range_error", &_ZTISt13runtime_error};
const void *const _ZTVSt11range_error[5] = {0, &_ZTISt11range_error, _ZNSt11range_errorD1Ev, _ZNSt11range_errorD0Ev, _ZNKSt13runtime_error4whatEv};
void _ZNSt11range_errorC1EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt11range_error + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt11range_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt11range_error + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt11range_errorC1ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt11range_error + 2;
    this->text = __mover_strdup(other->text);
}
void _ZNSt11range_errorC2EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt11range_error + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt11range_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt11range_error + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt11range_errorC2ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt11range_error + 2;
    this->text = __mover_strdup(other->text);
}

void _ZNSt14overflow_errorD2Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt14overflow_errorD1Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt14overflow_errorD0Ev(struct __mover_error *this) {
    free(this->text);
    free(this);
}
const struct __mover_type _ZTISt14overflow_error = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St14overflow_error", &_ZTISt13runtime_error};
const void *const _ZTVSt14overflow_error[5] = {0, &_ZTISt14overflow_error, _ZNSt14overflow_errorD1Ev, _ZNSt14overflow_errorD0Ev, _ZNKSt13runtime_error4whatEv};
void _ZNSt14overflow_errorC1EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt14overflow_error + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt14overflow_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt14overflow_error + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt14overflow_errorC1ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt14overflow_error + 2;
    this->text = __mover_strdup(other->text);
}
void _ZNSt14overflow_errorC2EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt14overflow_error + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt14overflow_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt14overflow_error + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt14overflow_errorC2ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt14overflow_error + 2;
    this->text = __mover_strdup(other->text);
}

void _ZNSt15underflow_errorD2Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt15underflow_errorD1Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt15underflow_errorD0Ev(struct __mover_error *this) {
    free(this->text);
    free(this);
}
const struct __mover_type _ZTISt15underflow_error = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St15underflow_error", &_ZTISt13runtime_error};
const void *const _ZTVSt15underflow_error[5] = {0, &_ZTISt15underflow_error, _ZNSt15underflow_errorD1Ev, _ZNSt15underflow_errorD0Ev, _ZNKSt13runtime_error4whatEv};
void _ZNSt15underflow_errorC1EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt15underflow_error + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt15underflow_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt15underflow_error + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt15underflow_errorC1ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt15underflow_error + 2;
    this->text = __mover_strdup(other->text);
}
void _ZNSt15underflow_errorC2EPKc(struct __mover_error *this, const char *text) {
    this->table = _ZTVSt15underflow_error + 2;
    this->text = __mover_strdup(text);
}
void _ZNSt15underflow_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct __mover_error *this, const struct __mover_string *text) {
    this->table = _ZTVSt15underflow_error + 2;
    this->text = __mover_strdup(text->start);
}
void _ZNSt15underflow_errorC2ERKS_(struct __mover_error *this, const struct __mover_error *other) {
    this->table = _ZTVSt15underflow_error + 2;
    this->text = __mover_strdup(other->text);
}

void _ZNSt12system_errorD2Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt12system_errorD1Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt12system_errorD0Ev(struct __mover_error *this) {
    free(this->text);
    free(this);
}
const struct __mover_type _ZTISt12system_error = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St12system_error", &_ZTISt13runtime_error};
const void *const _ZTVSt12system_error[5] = {0, &_ZTISt12system_error, _ZNSt12system_errorD1Ev, _ZNSt12system_errorD0Ev, _ZNKSt13runtime_error4whatEv};

void _ZNSt12future_errorD2Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt12future_errorD1Ev(struct __mover_error *this) { free(this->text); }
void _ZNSt12future_errorD0Ev(struct __mover_error *this) {
    free(this->text);
    free(this);
}
const char *_ZNKSt12future_error4whatEv(struct __mover_error *this) { return this->text; }
const struct __mover_type _ZTISt12future_error = {_ZTVN10__cxxabiv120__si_class_type_infoE + 2, "St12future_error", &_ZTISt11logic_error};
const void *const _ZTVSt12future_error[5] = {0, &_ZTISt12future_error, _ZNSt12future_errorD1Ev, _ZNSt12future_errorD0Ev, _ZNKSt12future_error4whatEv};

/* With an error number. Of its category only the address is used. */
struct __mover_coded_error {
    struct __mover_error error;
    int code;
    const void *category;
};
/* std::string with a short text. */
struct __mover_short_string {
    char *start;
    size_t length;
    char room[16];
};
static void __mover_category_destroy(void *this) {}
struct __mover_category {
    const void *const *table;
    const char *name;
};
static const char *__mover_category_name(const struct __mover_category *this) { return this->name; }
static void __mover_category_message(struct __mover_short_string *to, const void *this, int code) {
    to->start = to->room;
    to->length = 5;
    __mover_memcpy(to->room, "error", 6);
}
static _Bool __mover_category_knows(const void *this, int code, const void *condition) {
    __mover_unsupported("a comparison of error codes with conditions");
    return 0;
}
static _Bool __mover_category_is(const void *this, const void *code, int condition) {
    __mover_unsupported("a comparison of error codes with conditions");
    return 0;
}
const struct __mover_type _ZTINSt3_V214error_categoryE = {_ZTVN10__cxxabiv117__class_type_infoE + 2, "NSt3_V214error_categoryE", 0};
/* The fourth function is for strings of another ABI, the sixth returns a condition. */
const void *const _ZTVNSt3_V214error_categoryE[10] = {0, &_ZTINSt3_V214error_categoryE, __mover_category_destroy, __mover_category_destroy, __mover_category_name, 0, __mover_category_message, 0, __mover_category_knows, __mover_category_is};
static const struct __mover_category __mover_categories[4] = {
    {_ZTVNSt3_V214error_categoryE + 2, "generic"},
    {_ZTVNSt3_V214error_categoryE + 2, "system"},
    {_ZTVNSt3_V214error_categoryE + 2, "future"},
    {_ZTVNSt3_V214error_categoryE + 2, "iostream"},
};
const void *_ZNSt3_V216generic_categoryEv(void) { return &__mover_categories[0]; }
const void *_ZNSt3_V215system_categoryEv(void) { return &__mover_categories[1]; }
const void *_ZSt15future_categoryv(void) { return &__mover_categories[2]; }
static void __mover_throw_coded(int code, const void *category, const char *text, const void *const *table, const void *type, void (*destroy)(void *)) {
    struct __mover_coded_error *new = __cxa_allocate_exception(sizeof *new);
    new->error.table = table;
    new->error.text = __mover_strdup(text);
    new->code = code;
    new->category = category;
    __cxa_throw(new, type, destroy);
}
void _ZSt20__throw_system_errori(int code) {
    __mover_throw_coded(code, &__mover_categories[0], "system_error", _ZTVSt12system_error + 2, &_ZTISt12system_error, (void (*)(void *))_ZNSt12system_errorD1Ev);
}
void _ZSt20__throw_future_errori(int code) {
    __mover_throw_coded(code, &__mover_categories[2], "future_error", _ZTVSt12future_error + 2, &_ZTISt12future_error, (void (*)(void *))_ZNSt12future_errorD1Ev);
}
void _ZSt19__throw_logic_errorPKc(const char *text) {
    struct __mover_error *new = __cxa_allocate_exception(sizeof *new);
    _ZNSt11logic_errorC1EPKc(new, text);
    __cxa_throw(new, &_ZTISt11logic_error, (void (*)(void *))_ZNSt11logic_errorD1Ev);
}
void _ZSt20__throw_length_errorPKc(const char *text) {
    struct __mover_error *new = __cxa_allocate_exception(sizeof *new);
    _ZNSt12length_errorC1EPKc(new, text);
    __cxa_throw(new, &_ZTISt12length_error, (void (*)(void *))_ZNSt12length_errorD1Ev);
}
void _ZSt20__throw_out_of_rangePKc(const char *text) {
    struct __mover_error *new = __cxa_allocate_exception(sizeof *new);
    _ZNSt12out_of_rangeC1EPKc(new, text);
    __cxa_throw(new, &_ZTISt12out_of_range, (void (*)(void *))_ZNSt12out_of_rangeD1Ev);
}
void _ZSt24__throw_invalid_argumentPKc(const char *text) {
    struct __mover_error *new = __cxa_allocate_exception(sizeof *new);
    _ZNSt16invalid_argumentC1EPKc(new, text);
    __cxa_throw(new, &_ZTISt16invalid_argument, (void (*)(void *))_ZNSt16invalid_argumentD1Ev);
}
void _ZSt20__throw_domain_errorPKc(const char *text) {
    struct __mover_error *new = __cxa_allocate_exception(sizeof *new);
    _ZNSt12domain_errorC1EPKc(new, text);
    __cxa_throw(new, &_ZTISt12domain_error, (void (*)(void *))_ZNSt12domain_errorD1Ev);
}
void _ZSt21__throw_runtime_errorPKc(const char *text) {
    struct __mover_error *new = __cxa_allocate_exception(sizeof *new);
    _ZNSt13runtime_errorC1EPKc(new, text);
    __cxa_throw(new, &_ZTISt13runtime_error, (void (*)(void *))_ZNSt13runtime_errorD1Ev);
}
void _ZSt19__throw_range_errorPKc(const char *text) {
    struct __mover_error *new = __cxa_allocate_exception(sizeof *new);
    _ZNSt11range_errorC1EPKc(new, text);
    __cxa_throw(new, &_ZTISt11range_error, (void (*)(void *))_ZNSt11range_errorD1Ev);
}
void _ZSt22__throw_overflow_errorPKc(const char *text) {
    struct __mover_error *new = __cxa_allocate_exception(sizeof *new);
    _ZNSt14overflow_errorC1EPKc(new, text);
    __cxa_throw(new, &_ZTISt14overflow_error, (void (*)(void *))_ZNSt14overflow_errorD1Ev);
}
void _ZSt23__throw_underflow_errorPKc(const char *text) {
    struct __mover_error *new = __cxa_allocate_exception(sizeof *new);
    _ZNSt15underflow_errorC1EPKc(new, text);
    __cxa_throw(new, &_ZTISt15underflow_error, (void (*)(void *))_ZNSt15underflow_errorD1Ev);
}
void _ZSt24__throw_out_of_range_fmtPKcz(const char *text, ...) { _ZSt20__throw_out_of_rangePKc(text); }
void _ZSt17__throw_bad_allocv(void) {
    const void *const **new = __cxa_allocate_exception(sizeof *new);
    *new = _ZTVSt9bad_alloc + 2;
    __cxa_throw(new, &_ZTISt9bad_alloc, _ZNSt9bad_allocD1Ev);
}
void _ZSt16__throw_bad_castv(void) {
    const void *const **new = __cxa_allocate_exception(sizeof *new);
    *new = _ZTVSt8bad_cast + 2;
    __cxa_throw(new, &_ZTISt8bad_cast, _ZNSt8bad_castD1Ev);
}
void _ZSt18__throw_bad_typeidv(void) {
    const void *const **new = __cxa_allocate_exception(sizeof *new);
    *new = _ZTVSt10bad_typeid + 2;
    __cxa_throw(new, &_ZTISt10bad_typeid, _ZNSt10bad_typeidD1Ev);
}
void _ZSt28__throw_bad_array_new_lengthv(void) {
    const void *const **new = __cxa_allocate_exception(sizeof *new);
    *new = _ZTVSt20bad_array_new_length + 2;
    __cxa_throw(new, &_ZTISt20bad_array_new_length, _ZNSt20bad_array_new_lengthD1Ev);
}
void _ZSt25__throw_bad_function_callv(void) {
    const void *const **new = __cxa_allocate_exception(sizeof *new);
    *new = _ZTVSt17bad_function_call + 2;
    __cxa_throw(new, &_ZTISt17bad_function_call, _ZNSt17bad_function_callD1Ev);
}
void _ZSt21__throw_bad_exceptionv(void) {
    const void *const **new = __cxa_allocate_exception(sizeof *new);
    *new = _ZTVSt13bad_exception + 2;
    __cxa_throw(new, &_ZTISt13bad_exception, _ZNSt13bad_exceptionD1Ev);
}
void __cxa_throw_bad_array_new_length(void) { _ZSt28__throw_bad_array_new_lengthv(); }
void __cxa_bad_cast(void) { _ZSt16__throw_bad_castv(); }
