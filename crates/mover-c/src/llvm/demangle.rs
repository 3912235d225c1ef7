//! Names of C++ as their source has them.
//!
//! Linkers know a function of C++ by a name that encodes its scope and the types of its parameters
//! (Itanium C++ ABI, section 5.1). LLVM decodes it. What is shown is shorter: without parameters,
//! without the namespace of the library and its inline namespaces, without default arguments of
//! templates, and a lambda by its number in the function that has it.

use std::ffi::{CStr, c_char, c_void};

/// C++'s `std::string_view`.
#[repr(C)]
struct View {
    length: usize,
    start: *const u8,
}

unsafe extern "C" {
    /// `char *llvm::itaniumDemangle(std::string_view name, bool with_parameters)`, not in LLVM's C
    /// interface. The result comes from `malloc`; null if the name is no such name.
    #[link_name = "_ZN4llvm15itaniumDemangleESt17basic_string_viewIcSt11char_traitsIcEEb"]
    fn demangle(name: View, with_parameters: bool) -> *mut c_char;
    fn free(memory: *mut c_void);
}

/// The name of a function or variable as messages show it.
pub fn short(name: &str) -> String {
    match decoded(name) {
        Some(decoded) => shortened(&decoded),
        None => name.to_string(),
    }
}

/// The name of a thread that starts with a function: that of the lambda or the class that a
/// `std::thread` runs.
pub fn thread_name(name: &str) -> String {
    let name = short(name);
    let Some((_, run)) = name.split_once("thread::_S_run") else {
        return name;
    };
    let Some(at) = run.find("tuple<") else {
        return name;
    };
    let first = &run[at + "tuple<".len()..];
    let mut depth = 0;
    let end = first.find(|c: char| {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' if depth > 0 => depth -= 1,
            ',' | '>' => return depth == 0,
            _ => {}
        }
        false
    });
    let first = &first[..end.unwrap_or(first.len())];
    // `void (Pool::*)(int)`
    match first.split_once("::*)") {
        Some((head, _)) => head.rsplit('(').next().unwrap_or(head).to_string(),
        None => first.to_string(),
    }
}

fn decoded(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let view = View {
        length: name.len(),
        start: name.as_ptr(),
    };
    // SAFETY: LLVM reads the bytes of the view and returns a string that is ours, or null.
    unsafe {
        let found = demangle(view, false);
        if found.is_null() {
            return None;
        }
        let text = CStr::from_ptr(found).to_string_lossy().into_owned();
        free(found.cast());
        Some(text)
    }
}

fn shortened(name: &str) -> String {
    let mut text = name.to_string();
    for noise in [
        "(anonymous namespace)::",
        "std::__cxx11::",
        "std::__1::",
        "std::chrono::_V2::",
        "std::",
        "[abi:cxx11]",
    ] {
        text = text.replace(noise, "");
    }
    text = text.replace(
        "basic_string<char, char_traits<char>, allocator<char>>",
        "string",
    );
    for default in [
        ", allocator<",
        ", default_delete<",
        ", char_traits<",
        ", less<",
        ", equal_to<",
        ", hash<",
    ] {
        while let Some(at) = text.find(default) {
            let end = closing(&text, at + default.len());
            text.replace_range(at..end, "");
        }
    }
    // `main::$_0::operator()`
    while let Some(at) = text.find("$_") {
        let digits = text[at + 2..]
            .chars()
            .take_while(char::is_ascii_digit)
            .count();
        let end = at + 2 + digits;
        let number = text[at + 2..end]
            .parse::<u32>()
            .map_or(1, |number| number + 1);
        let call = "::operator()";
        let end = if text[end..].starts_with(call) {
            end + call.len()
        } else {
            end
        };
        text.replace_range(at..end, &format!("lambda#{number}"));
    }
    // `main::'lambda'(int)::operator()`
    while let Some(at) = text.find("'lambda") {
        let Some(quote) = text[at + 1..].find('\'').map(|to| at + 1 + to) else {
            break;
        };
        let number: String = text[at + "'lambda".len()..quote].to_string();
        let mut end = quote + 1;
        if text[end..].starts_with('(') {
            end = closing_parenthesis(&text, end + 1);
        }
        // LLVM counts from none.
        let number = number.parse::<u32>().map_or(1, |number| number + 2);
        let call = "::operator()";
        if text[end..].starts_with(call) {
            end += call.len();
        }
        if text[end..].starts_with(" const") {
            end += " const".len();
        }
        text.replace_range(at..end, &format!("lambda#{number}"));
    }
    text.replace("::main::", "main::")
}

/// Behind the bracket that closes one before `from`.
fn closing(text: &str, from: usize) -> usize {
    behind(text, from, '<', '>')
}

fn closing_parenthesis(text: &str, from: usize) -> usize {
    behind(text, from, '(', ')')
}

fn behind(text: &str, from: usize, opens: char, closes: char) -> usize {
    let mut depth = 1;
    for (at, c) in text[from..].char_indices() {
        if c == opens {
            depth += 1;
        } else if c == closes {
            depth -= 1;
            if depth == 0 {
                return from + at + c.len_utf8();
            }
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        assert_eq!(short("_ZN5QueueIiE4pushERKi"), "Queue<int>::push");
        assert_eq!(short("_ZN12_GLOBAL__N_16workerEv"), "worker");
        assert_eq!(short("_ZNSt6thread4joinEv"), "thread::join");
        assert_eq!(
            short("_ZNSt6vectorIiSaIiEE9push_backEOi"),
            "vector<int>::push_back"
        );
        assert_eq!(short("_ZZ4mainENK3$_0clEv"), "main::lambda#1");
        assert_eq!(short("_ZZ4mainENKUlvE_clEv"), "main::lambda#1");
        assert_eq!(short("_ZZ4mainENKUlvE0_clEv"), "main::lambda#2");
        assert_eq!(short("main"), "main");
        assert_eq!(short("_Zbroken"), "_Zbroken");
    }
}
