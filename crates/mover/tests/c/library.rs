//! The models of C library functions do what the functions themselves do.
//!
//! For each function there are templates of expressions. Placeholders are filled with random
//! arguments, the native program says what each expression is, and mover must find that it is
//! always that, and that it is not something else. Functions whose result the standard leaves open
//! occur inside an expression that is determined (`!!isdigit(c)`, the sign of `strcasecmp`); that
//! the model does not pin them is for the cases in `tests/cases/c/library`.

use std::path::Path;
use std::process::Command;

use crate::common::{self, mover, run};

/// Used by the expressions below, natively and in mover.
const PRELUDE: &str = r#"
#define _GNU_SOURCE
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
static long long place(const void *base, const void *p) {
    return p ? (const char *)p - (const char *)base : -1;
}
static long long sum(const void *p, size_t n) {
    const unsigned char *bytes = p;
    unsigned long long all = 7;
    for (size_t i = 0; i < n; i++)
        all = all * 31 + bytes[i];
    return (long long)all;
}
static long long sign(long long x) { return x < 0 ? -1 : x > 0; }
static int ascending(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}
static int descending(const void *a, const void *b, void *times) {
    return *(int *)times * ascending(b, a);
}
static __int128 wide(long high, long low) {
    volatile long a = high, b = low;
    return (__int128)((unsigned __int128)a << 64 | (unsigned long)b);
}
static long long fold(unsigned __int128 x) {
    return (long long)((unsigned long)x * 31 + (unsigned long)(x >> 64));
}
static long long bits(double x) {
    long long all;
    if (x != x)
        return -1;
    memcpy(&all, &x, sizeof all);
    return all;
}
static long long single(float x) {
    int all;
    if (x != x)
        return -1;
    memcpy(&all, &x, sizeof all);
    return all;
}
"#;

/// Placeholders: `S` a string, `T` one that may be part of others, `C` a character, `N` a small
/// number, `I` an int, `L` a long, `D` a double, `F` a float, `B` a base, `X` digits, `X2` a
/// decimal fraction.
const TEMPLATES: &[(&str, &str)] = &[
    ("strlen", "strlen(S)"),
    ("strnlen", "strnlen(S, N)"),
    ("strcmp", "sign(strcmp(S, S))"),
    ("strncmp", "sign(strncmp(S, S, N))"),
    ("strcasecmp", "sign(strcasecmp(S, S))"),
    ("strncasecmp", "sign(strncasecmp(S, S, N))"),
    ("memcmp", "sign(memcmp(S \"12345678\", S \"12345678\", N))"),
    ("strchr", "({ const char *s = S; place(s, strchr(s, C)); })"),
    (
        "strrchr",
        "({ const char *s = S; place(s, strrchr(s, C)); })",
    ),
    (
        "strchrnul",
        "({ const char *s = S; place(s, strchrnul(s, C)); })",
    ),
    ("index", "({ const char *s = S; place(s, index(s, C)); })"),
    ("strstr", "({ const char *s = S; place(s, strstr(s, T)); })"),
    (
        "strpbrk",
        "({ const char *s = S; place(s, strpbrk(s, T)); })",
    ),
    ("strspn", "strspn(S, S)"),
    ("strcspn", "strcspn(S, T)"),
    (
        "memchr",
        "({ const char *s = S \"12345678\"; place(s, memchr(s, C, N)); })",
    ),
    (
        "memrchr",
        "({ const char *s = S \"12345678\"; place(s, memrchr(s, C, N)); })",
    ),
    (
        "memmem",
        "({ const char *s = S, *t = T; place(s, memmem(s, strlen(s), t, strlen(t))); })",
    ),
    (
        "strcpy",
        "({ char b[32] = {0}; strcpy(b, S); sum(b, 32); })",
    ),
    (
        "stpcpy",
        "({ char b[32] = {0}; place(b, stpcpy(b, S)) + sum(b, 32); })",
    ),
    (
        "strncpy",
        "({ char b[32] = \"0123456789\"; strncpy(b, S, N); sum(b, 32); })",
    ),
    ("strcat", "({ char b[32] = S; strcat(b, S); sum(b, 32); })"),
    (
        "strncat",
        "({ char b[32] = S; strncat(b, S, N); sum(b, 32); })",
    ),
    (
        "strdup",
        "({ char *p = strdup(S); long long r = sum(p, strlen(p) + 1); free(p); r; })",
    ),
    (
        "strndup",
        "({ char *p = strndup(S, N); long long r = sum(p, strlen(p) + 1); free(p); r; })",
    ),
    (
        "memcpy",
        "({ char b[32] = {0}; memcpy(b + 3, S \"12345678\", N); sum(b, 32); })",
    ),
    (
        "mempcpy",
        "({ char b[32] = {0}; place(b, mempcpy(b, S \"12345678\", N)) + sum(b, 32); })",
    ),
    (
        "memmove",
        "({ char b[32] = S \"12345678\"; memmove(b + 2, b, N); sum(b, 32); })",
    ),
    (
        "memmove",
        "({ char b[32] = S \"12345678\"; memmove(b, b + 3, N); sum(b, 32); })",
    ),
    (
        "memset",
        "({ char b[32] = S; memset(b + 1, C, N); sum(b, 32); })",
    ),
    (
        "memccpy",
        "({ char b[32] = {0}; place(b, memccpy(b, S \"12345678\", C, N)) + sum(b, 32); })",
    ),
    (
        "bzero",
        "({ char b[32] = S; bzero(b + 1, N); sum(b, 32); })",
    ),
    (
        "strtok",
        "({ char b[32] = S; char *p = strtok(b, T), *q = p ? strtok(0, T) : 0; place(b, p) * 100 + place(b, q) + sum(b, 32); })",
    ),
    (
        "strtok_r",
        "({ char b[32] = S, *m; char *p = strtok_r(b, T, &m); place(b, p) + sum(b, 32); })",
    ),
    (
        "strsep",
        "({ char b[32] = S, *m = b; char *p = strsep(&m, T); place(b, p) * 100 + place(b, m) + sum(b, 32); })",
    ),
    ("isdigit", "!!isdigit(C)"),
    ("isalpha", "!!isalpha(C)"),
    ("isspace", "!!isspace(C)"),
    ("isalnum", "!!(isalnum)(C)"),
    (
        "isupper",
        "!!(isupper)(C) + 2 * !!(islower)(C) + 4 * !!(isxdigit)(C) + 8 * !!(isprint)(C)",
    ),
    (
        "ispunct",
        "!!(ispunct)(C) + 2 * !!(iscntrl)(C) + 4 * !!(isblank)(C) + 8 * !!(isgraph)(C)",
    ),
    ("toupper", "toupper(C) + 1000 * tolower(C)"),
    ("atoi", "atoi(X)"),
    ("atol", "atol(X)"),
    ("atoll", "atoll(X)"),
    (
        "strtol",
        "({ const char *s = X; char *e; errno = 0; long v = strtol(s, &e, B); v + 7 * place(s, e) + errno; })",
    ),
    (
        "strtoul",
        "({ const char *s = X; char *e; errno = 0; unsigned long v = strtoul(s, &e, B); (long long)(v + 7 * place(s, e) + errno); })",
    ),
    (
        "strtoll",
        "({ const char *s = X; char *e; long long v = strtoll(s, &e, B); v + 7 * place(s, e); })",
    ),
    (
        "strtoull",
        "({ const char *s = X; char *e; (long long)(strtoull(s, &e, B) + 7 * place(s, e)); })",
    ),
    ("abs", "abs(I) + labs(I) + llabs(I)"),
    (
        "qsort",
        "({ int v[] = {I, I, I, I, I}; qsort(v, 5, sizeof v[0], ascending); sum(v, sizeof v); })",
    ),
    (
        "bsearch",
        "({ int v[] = {1, 3, 5, 7, 9}, k = N; place(v, bsearch(&k, v, 5, sizeof v[0], ascending)); })",
    ),
    (
        "snprintf",
        "({ char b[40] = {0}; snprintf(b, N + 1, \"%d|%s\", I, S) + sum(b, 40); })",
    ),
    (
        "snprintf",
        "({ char b[40] = {0}; snprintf(b, 40, \"%5d|%-6u|%+d\", I % 1000, (unsigned)N, I) + sum(b, 40); })",
    ),
    (
        "snprintf",
        "({ char b[64] = {0}; snprintf(b, 64, \"%#x %08x %o %lX %ld\", (unsigned)I, (unsigned)N, (unsigned)I, L, L) + sum(b, 64); })",
    ),
    (
        "snprintf",
        "({ char b[40] = {0}; snprintf(b, 40, \"%c%%%.3s%6s%-6s\", 'a' + (int)N, S, T, T) + sum(b, 40); })",
    ),
    (
        "snprintf",
        "({ char b[40] = {0}; snprintf(b, 40, \"%.3d %06d % d\", (int)N, I % 1000, I) + sum(b, 40); })",
    ),
    (
        "snprintf",
        "({ char b[40] = {0}; snprintf(b, 40, \"%*d%hhd%hu%zu\", (int)N, I % 100, (signed char)I, (unsigned short)I, (size_t)N) + sum(b, 40); })",
    ),
    ("snprintf", "snprintf(0, 0, \"%s%d%p\", S, I, (void *)0)"),
    (
        "format_double",
        "({ char b[400] = {0}; snprintf(b, 400, \"%f|%.2f|%.0f\", D, D, D) + sum(b, 400); })",
    ),
    (
        "format_double",
        "({ char b[120] = {0}; snprintf(b, 120, \"%e|%.3E|%g|%G\", D, D, D, D) + sum(b, 120); })",
    ),
    (
        "format_double",
        "({ char b[120] = {0}; snprintf(b, 120, \"%10.3g|%-12.4e|%+08.1f|%#.0f|% g\", D, D, (double)I, (double)N, D / 4) + sum(b, 120); })",
    ),
    (
        "format_double",
        "({ char b[90] = {0}; snprintf(b, 90, \"%.*g|%#g|%.1f|%.12g\", (int)N, D, (double)I, N / 4.0, I / 8.0) + sum(b, 90); })",
    ),
    (
        "strtod",
        "({ char *e; const char *s = X2; double v = strtod(s, &e); bits(v) + place(s, e); })",
    ),
    ("atof", "bits(atof(X2))"),
    (
        "stpncpy",
        "({ char b[32] = \"0123456789\"; place(b, stpncpy(b, S, N)) + sum(b, 32); })",
    ),
    (
        "strxfrm",
        "({ char b[32] = \"0123456789\"; strxfrm(b, S, 20) + sum(b, 8) * 0 + sign(strcoll(S, S)); })",
    ),
    (
        "strcasestr",
        "({ const char *s = S; place(s, strcasestr(s, T)); })",
    ),
    (
        "rawmemchr",
        "({ const char *s = S \"x\"; place(s, rawmemchr(s, 'x')) + place(s, rindex(s, C)); })",
    ),
    (
        "bcopy",
        "({ char b[32] = S \"12345678\"; bcopy(b, b + 2, N); sum(b, 32) + sign(bcmp(S \"12345678\", S \"12345678\", N)) % 2 * 0; })",
    ),
    ("ffs", "ffs(I) + ffsl(I) + ffsll(L)"),
    (
        "div",
        "({ div_t d = div(I, (int)N + 1); ldiv_t l = ldiv(L, (long)N + 1); d.quot + 3 * d.rem + l.quot + 5 * l.rem; })",
    ),
    (
        "reallocarray",
        "({ char *p = reallocarray(strdup(S), 3, 4); long long r = sum(p, strlen(p)); free(p); r; })",
    ),
    (
        "sprintf",
        "({ char b[64] = {0}; sprintf(b, \"%s %i %lld\", S, I, (long long)L) + sum(b, 64); })",
    ),
    (
        "asprintf",
        "({ char *p; int n = asprintf(&p, \"%s-%u\", S, (unsigned)I); long long r = n + sum(p, (size_t)n + 1); free(p); r; })",
    ),
    ("float_add", "bits(D + D)"),
    ("float_sub", "bits(D - D)"),
    ("float_mul", "bits(D * D)"),
    ("float_div", "bits(D / D)"),
    (
        "float_compare",
        "({ double x = D, y = D; (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x > y) + 32 * (x >= y); })",
    ),
    ("float_from_signed", "bits((double)L) + bits((double)I)"),
    ("float_from_unsigned", "bits((double)(unsigned long)L)"),
    (
        "float_to_signed",
        "({ double x = D; x > -1e9 && x < 1e9 ? (long long)(int)x + (long long)x : 0; })",
    ),
    (
        "float_to_unsigned",
        "({ double x = D; x >= 0 && x < 1e19 ? (long long)(unsigned long)x : 0; })",
    ),
    ("float_truncate", "single((float)D)"),
    (
        "float_extend",
        "bits((double)F) + single(F + F) + single(F * F) + single(F / F) + single(-F)",
    ),
    (
        "float_single_from_signed",
        "single((float)L) + single((float)(unsigned long)L)",
    ),
    ("fabs", "bits(__builtin_fabs(D))"),
    (
        "wide_udiv",
        "({ unsigned __int128 a = wide(L, L), b = wide(N - 4, L); b ? fold(a / b) + fold(a % b) : 0; })",
    ),
    (
        "wide_udiv by a word",
        "({ unsigned __int128 a = wide(L, L), b = (unsigned long)wide(0, L); b ? fold(a / b) + fold(a % b) : 0; })",
    ),
    (
        "wide_sdiv",
        "({ __int128 a = wide(L, L), b = wide(N - 4, L); b ? fold(a / b) + fold(a % b) : 0; })",
    ),
    (
        "wide_multiply_high",
        "fold((unsigned __int128)wide(L, L) * wide(L, L)) + fold((__int128)wide(0, L) * (long)wide(0, L))",
    ),
    (
        "wide sums",
        "({ unsigned __int128 a = wide(L, L), b = wide(L, L); fold(a + b) + fold(a - b) + fold(a & b) + fold(a | ~b) + fold(a ^ -b); })",
    ),
    (
        "wide shifts",
        "({ unsigned __int128 a = wide(L, L); int n = N * 15; fold(a << n) + fold(a >> n) + fold((__int128)a >> n) + fold(a << 64 | a >> 64); })",
    ),
    (
        "wide comparisons",
        "({ __int128 a = wide(N % 2, L), b = wide(N % 2, L); (a < b) + 2 * (a <= b) + 4 * ((unsigned __int128)a > b) + 8 * (a == b) + 16 * ((unsigned __int128)a >= b); })",
    ),
    (
        "wide_smul_overflows",
        "({ __int128 a = wide(N - 4, L), b = L, r; int o = __builtin_mul_overflow(a, b, &r); o + fold(r); })",
    ),
    (
        "wide_umul_overflows",
        "({ unsigned __int128 a = wide(N, L), b = wide(N / 5, L), r; int o = __builtin_mul_overflow(a, b, &r); o = 2 * o + __builtin_add_overflow(a, r, &b); o + fold(b) + fold(r); })",
    ),
    (
        "wide_to_double",
        "({ __int128 a = wide(L, L); bits((double)a) + bits((double)(unsigned __int128)a) + bits((double)(a >> 70)); })",
    ),
    (
        "wide_to_single",
        "({ __int128 a = wide(L, L); single((float)a) + single((float)(unsigned __int128)a); })",
    ),
    (
        "wide_from_float",
        "({ double x = D; x < 1e38 && x > -1e38 ? fold((__int128)x) + fold((unsigned __int128)(x < 0 ? -x : x)) : 0; })",
    ),
    (
        "lldiv",
        "lldiv(L, 7).quot + lldiv(L, 7).rem * 3 + imaxdiv(L, -9).quot",
    ),
    ("imaxabs", "imaxabs(L)"),
    (
        "strtoimax",
        "({ char *e, *s = X; errno = 0; intmax_t n = strtoimax(s, &e, B); n + place(s, e) + errno; })",
    ),
    (
        "strtoumax",
        "({ char *e, *s = X; errno = 0; uintmax_t n = strtoumax(s, &e, B); n + place(s, e) + errno; })",
    ),
    (
        "qsort_r",
        "({ int a[] = {I, I, I, I}, t = 1; qsort_r(a, 4, sizeof *a, descending, &t); sum(a, sizeof a); })",
    ),
    (
        "lfind",
        "({ int a[] = {N, N, N, N}, k = N; size_t n = 4; place(a, lfind(&k, a, &n, sizeof *a, ascending)); })",
    ),
    (
        "swab",
        "({ char a[9] = \"abcdefgh\", b[9] = S; swab(a, b, N / 2 * 2); sum(b, 9); })",
    ),
    (
        "basename",
        "({ const char *s = \"a/\" S; place(s, basename(s)); })",
    ),
    (
        "memalign",
        "({ void *p = memalign(64, 8), *q = valloc(8); int r = (unsigned long)p % 64 + (unsigned long)q % 4096; free(p); free(q); r; })",
    ),
    (
        "getopt",
        "({ char *v[] = {\"p\", \"-a\", \"-b\", S, \"-cx\", \"-d\", 0}; int n = 0, c; optind = 1; opterr = 0; while ((c = getopt(6, v, \"ab:cx\")) != -1) n = n * 7 + c + (c == 'b' ? (int)strlen(optarg) : 0); n + optind; })",
    ),
    (
        "__atomic_load",
        "({ struct { char c[24]; } a = {S}, b = {T}, c; __atomic_exchange(&a, &b, &c, 5); int r = __atomic_compare_exchange(&a, &b, &c, 0, 5, 5); __atomic_load(&a, &b, 5); sum(&a, 24) + sum(&b, 24) + sum(&c, 24) + r; })",
    ),
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn text(&mut self, longest: u64) -> String {
        let letters = b"aAb,b1 z";
        let count = self.below(longest + 1);
        let all = (0..count).map(|_| letters[self.below(letters.len() as u64) as usize] as char);
        format!("\"{}\"", all.collect::<String>())
    }

    fn number(&mut self) -> i64 {
        match self.below(5) {
            0 => self.below(20) as i64 - 10,
            1 => i64::from(i32::MAX),
            2 => i64::from(i32::MIN) + 1,
            _ => self.below(2_000_000) as i64 - 1_000_000,
        }
    }

    fn double(&mut self) -> String {
        match self.below(8) {
            0 => "0.0".into(),
            1 => "-0.0".into(),
            2 => "__builtin_inf()".into(),
            3 => "0x1p-1060".into(),
            4 => format!("{}.0", self.below(100) as i64 - 50),
            _ => {
                let fraction = self.below(1 << 52);
                let exponent = self.below(140) as i64 - 70;
                format!("0x1.{fraction:013x}p{exponent}")
            }
        }
    }

    fn fraction(&mut self) -> String {
        let signs = ["", " ", "-", "+", "00", " \\t-."];
        let ends = ["", "e3", "E-7", "e", "e+x", ".5", "."];
        let sign = signs[self.below(6) as usize];
        let end = ends[self.below(7) as usize];
        let whole = self.below(100_000);
        match self.below(3) {
            0 => format!("\"{sign}{whole}{end}\""),
            _ => format!("\"{sign}{whole}.{}{end}\"", self.below(1_000_000)),
        }
    }

    fn digits(&mut self) -> String {
        let signs = ["", " ", "-", "+", "0x", "-0x", "0", " \\t-"];
        let rests = ["", "x", "8", "fz", "g", "99999999999999999999"];
        let sign = signs[self.below(8) as usize];
        let rest = rests[self.below(6) as usize];
        format!("\"{sign}{}{rest}\"", self.below(100_000))
    }

    /// The template with its placeholders filled.
    fn fill(&mut self, template: &str) -> String {
        let mut out = String::new();
        let mut template = template.to_string();
        while template.contains("X2") {
            template = template.replacen("X2", &self.fraction(), 1);
        }
        let bytes: Vec<char> = template.chars().collect();
        let is_part =
            |at: Option<&char>| at.is_some_and(|c| c.is_alphanumeric() || *c == '_' || *c == '%');
        for (at, &c) in bytes.iter().enumerate() {
            let is_alone = !is_part(at.checked_sub(1).and_then(|at| bytes.get(at)))
                && !is_part(bytes.get(at + 1));
            let filled = match c {
                _ if !is_alone => None,
                'S' => Some(self.text(7)),
                'T' => Some(self.text(2)),
                'C' => Some(format!("{}", self.below(128))),
                'N' => Some(format!("{}", self.below(9))),
                'I' => Some(format!("({})", self.number())),
                'L' => Some(format!(
                    "({}L)",
                    self.number().wrapping_mul(3_000_000_019) >> 1
                )),
                'D' => Some(format!("opaque({})", self.double())),
                'F' => Some(format!("(float)opaque({})", self.double())),
                'B' => Some(["0", "8", "10", "16", "36"][self.below(5) as usize].to_string()),
                'X' => Some(self.digits()),
                _ => None,
            };
            match filled {
                Some(text) => out.push_str(&text),
                None => out.push(c),
            }
        }
        out
    }
}

/// Keeps the compiler from computing with constants.
const OPAQUE: &str = "static double opaque(double x) { volatile double y = x; return y; }\n";

/// What the native program says of the expressions.
fn native(folder: &Path, name: &str, expressions: &[String]) -> Vec<i64> {
    let source = folder.join(format!("{name}-native.c"));
    let program = folder.join(format!("{name}-native"));
    let mut text = format!("{PRELUDE}{OPAQUE}int main(void) {{\n");
    for expression in expressions {
        text += &format!("    printf(\"%lld\\n\", (long long)({expression}));\n");
    }
    text += "    return 0;\n}\n";
    std::fs::write(&source, text).expect("a file");
    let mut compiler = Command::new("clang-19");
    compiler.args(["-w", "-O0", "-fno-builtin", "-ffp-contract=off", "-o"]);
    let compiled = compiler.arg(&program).arg(&source).arg("-latomic").output();
    let compiled = compiled.expect("clang");
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}");
    let ran = Command::new(&program).output().expect("it runs");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    said.lines().map(|line| line.parse().expect(line)).collect()
}

fn checked(folder: &Path, name: &str, rows: &[(String, i64)]) -> common::Ended {
    let source = folder.join(format!("{name}.c"));
    let mut text = format!("{PRELUDE}{OPAQUE}int main(void) {{\n");
    for (expression, value) in rows {
        // The smallest number is no literal.
        let value = format!("({}LL - 1)", value.wrapping_add(1));
        text += &format!("    assert((long long)({expression}) == {value});\n");
    }
    text += "    return 0;\n}\n";
    std::fs::write(&source, text).expect("a file");
    run(mover()
        .args([
            "check",
            "--property",
            "unreach-call",
            "--property",
            "memory-safety",
            "--timeout",
            "300",
        ])
        .arg(&source))
}

#[test]
fn every_modelled_function_does_what_the_native_one_does() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("library");
    std::fs::create_dir_all(&folder).expect("a scratch directory");
    let rounds = if std::env::var_os("MOVER_LONG").is_some() {
        12
    } else {
        2
    };
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for (number, templates) in TEMPLATES.chunks(6).enumerate() {
        let mut expressions = Vec::new();
        for (_, template) in templates {
            expressions.extend((0..rounds).map(|_| random.fill(template)));
        }
        let name = format!("functions{number}");
        let values = native(&folder, &name, &expressions);
        assert_eq!(values.len(), expressions.len(), "{name}");
        let mut rows: Vec<(String, i64)> = expressions.into_iter().zip(values).collect();
        let ended = checked(&folder, &name, &rows);
        assert_eq!(
            ended.code,
            Some(0),
            "{name}: {}{}",
            ended.stdout,
            ended.stderr
        );
        // The same with one wrong value is noticed.
        let wrong = random.below(rows.len() as u64) as usize;
        rows[wrong].1 = rows[wrong].1.wrapping_add(1);
        let ended = checked(&folder, &format!("{name}-wrong"), &rows);
        assert_eq!(
            ended.code,
            Some(10),
            "{name}: {}{}",
            ended.stdout,
            ended.stderr
        );
    }
}
