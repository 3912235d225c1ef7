//! Reports in a real browser: stepping on and back, clicking, the source that follows, both
//! themes, a narrow screen, hostile input, and not one complaint of the browser.
//!
//! The pictures of the guide are taken here; `UPDATE_EXPECT` in the environment writes them anew.

mod common;

#[path = "report/browser.rs"]
mod browser;
#[path = "report/explore.rs"]
mod explore;

use std::path::{Path, PathBuf};

use browser::{Browser, END, HOME, LEFT, RIGHT};
use common::{mover, own_examples, repository, run};
use serde_json::Value;

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    std::fs::create_dir_all(&folder).expect("a scratch directory");
    folder.join(name)
}

/// Writes the report of a command and gives its file with the answer in JSON.
fn report(name: &str, arguments: &[&str], code: i32) -> (PathBuf, Value) {
    let file = scratch(name);
    let _ = std::fs::remove_file(&file);
    let ended = run(mover()
        .args(arguments)
        .args(["--json", "--report"])
        .arg(&file)
        .current_dir(repository()));
    assert_eq!(ended.code, Some(code), "{}", ended.stderr);
    (file, ended.json())
}

fn picture(browser: &Browser, name: &str) {
    let shot = browser.screenshot();
    assert!(shot.len() > 5000, "{name}: an empty picture");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let file = repository().join("docs/guide").join(name);
        std::fs::write(file, shot).expect("a writable guide");
    }
}

/// Step, line of the source and value of the slider that the page shows.
fn shown(browser: &Browser) -> (u64, u64, u64) {
    let shown = browser.run(
        "const steps = [...document.querySelectorAll('.step')];
         const now = document.querySelectorAll('table.source tr.now');
         return [
           steps.findIndex(step => step.getAttribute('aria-current') === 'step') + 1,
           now.length === 1 ? Number(now[0].cells[0].textContent) : 0,
           Number(document.querySelector('.bar input').value),
         ];",
    );
    let number = |at: usize| shown[at].as_u64().expect("a number");
    (number(0), number(1), number(2))
}

#[track_caller]
fn assert_no_complaints(browser: &Browser) {
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[track_caller]
fn assert_fits(browser: &Browser, width: u64) {
    let needed = browser.run("return document.documentElement.scrollWidth");
    assert!(
        needed.as_u64().is_some_and(|needed| needed <= width),
        "{needed} pixels on a screen of {width}"
    );
}

#[cfg(feature = "c")]
#[test]
fn a_run_can_be_gone_through() {
    let (file, answer) = report(
        "bluetooth.html",
        &["check", "examples/c/bluetooth_driver.c"],
        10,
    );
    let steps = answer["trace"].as_array().expect("a trace");
    let line = |step: usize| steps[step - 1]["line"].as_u64().expect("a line");
    let browser = Browser::start("run");
    browser.prefer("light");
    browser.resize(1280, 860);
    browser.open(&file);
    assert_no_complaints(&browser);
    // It opens at the first step that matters.
    let first_mark = answer["story"]["marks"][0]["step"].as_u64();
    assert_eq!(Some(shown(&browser).0), first_mark);

    // By keyboard, on and back.
    browser.keys("body", HOME);
    browser.keys("body", RIGHT);
    browser.keys("body", RIGHT);
    browser.keys("body", RIGHT);
    assert_eq!(shown(&browser), (3, line(3), 3));
    browser.keys("body", LEFT);
    assert_eq!(shown(&browser), (2, line(2), 2));
    browser.keys("body", END);
    assert_eq!(shown(&browser).0, steps.len() as u64);
    browser.keys("body", HOME);
    assert_eq!(shown(&browser), (0, 0, 0));

    // By what matters, by button, by slider, by a click.
    browser.keys("body", "n");
    assert_eq!(Some(shown(&browser).0), first_mark);
    browser.click("[data-go=forward]");
    assert_eq!(Some(shown(&browser).0 - 1), first_mark);
    browser.keys(".bar input", RIGHT);
    assert_eq!(Some(shown(&browser).0 - 2), first_mark);
    browser.click("ol.steps li:nth-child(12) button");
    assert_eq!(shown(&browser), (12, line(12), 12));

    // What the step changed is marked, and what it read is told.
    let changed = browser.run(
        "return [...document.querySelectorAll('table.values tr.changed')].map(row => row.innerText.trim())",
    );
    let changed = changed.to_string();
    assert!(changed.contains("stopped"), "{changed}");
    let told = browser.run("return document.querySelector('.live').textContent");
    assert!(
        told.as_str()
            .is_some_and(|told| told.contains("Step 12 of 17: stop[2], line 36"))
    );

    // Each thread that goes on has its place in the source.
    let chips = browser.run(
        "return [...document.querySelectorAll('table.source .chip')].map(chip => chip.textContent).sort()",
    );
    assert_eq!(chips, serde_json::json!(["main[0]", "stop[2]", "work[1]"]));

    browser.run("scrollTo(0, 0); return 0");
    browser.resize(1280, 980);
    picture(&browser, "report-light.png");
    browser.run("document.querySelector('#run-0').scrollIntoView(); return 0");
    browser.prefer("dark");
    assert_eq!(
        browser.run("return document.documentElement.dataset.theme"),
        "dark"
    );
    picture(&browser, "report-dark.png");
    browser.click("#theme");
    assert_eq!(
        browser.run("return document.documentElement.dataset.theme"),
        "light"
    );
    assert_no_complaints(&browser);
    assert!(browser.printed() >= 2, "the report cannot be printed");

    // On a telephone.
    browser.resize(360, 740);
    browser.prefer("light");
    browser.open(&file);
    assert_fits(&browser, 360);
    browser.keys("body", HOME);
    browser.click("[data-go=key]");
    assert_eq!(Some(shown(&browser).0), first_mark);
    browser.run("document.querySelector('#run-0').scrollIntoView(); return 0");
    picture(&browser, "report-narrow.png");
    assert_no_complaints(&browser);
}

#[test]
fn a_report_has_landmarks_and_names() {
    let (file, _) = report(
        "landmarks.html",
        &["check", "examples/promela/philosophers_deadlock.pml"],
        10,
    );
    let browser = Browser::start("landmarks");
    browser.resize(1280, 860);
    browser.open(&file);
    let missing = browser.run(
        "return ['html[lang]', 'body > header', 'header nav[aria-label]', 'body > main',
                 'body > footer', 'h1', 'main section[aria-labelledby]', '[aria-live=polite]']
           .filter(selector => document.querySelector(selector) === null)",
    );
    assert_eq!(missing, serde_json::json!([]));
    let nameless = browser.run(
        "return [...document.querySelectorAll('button, input')]
           .filter(e => !(e.innerText.trim() || e.getAttribute('aria-label'))).length
           + [...document.querySelectorAll('section')]
           .filter(e => !document.getElementById(e.getAttribute('aria-labelledby'))).length",
    );
    assert_eq!(nameless, 0);
    // Readable: what is written stands out from what it is written on, in both themes.
    for theme in ["light", "dark"] {
        browser.prefer(theme);
        let low = browser.run(CONTRAST);
        assert_eq!(low, serde_json::json!([]), "{theme}");
    }
    assert_no_complaints(&browser);
}

/// The texts whose contrast with their background is below 4.5, as the Web Content Accessibility
/// Guidelines ask for.
const CONTRAST: &str = "
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = color => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = color => {
    const [r, g, b] = rgba(color).map(c => c / 255)
      .map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const ground = element => {
    for (; element; element = element.parentElement) {
      const color = getComputedStyle(element).backgroundColor;
      if (rgba(color)[3] === 255) return color;
    }
    return 'white';
  };
  const low = new Set();
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !element.getClientRects().length || element.closest(':disabled, .hush')) continue;
    const [a, b] = [light(getComputedStyle(element).color), light(ground(element))];
    const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (contrast < 4.5) low.add(`${element.className || element.tagName} ${contrast.toFixed(2)}`);
  }
  return [...low];";

#[test]
fn what_looks_like_markup_stays_text() {
    let model = scratch("evil<b>&.pml");
    let line = r#"	printf("</script><script>window.bad = 1</script><img src=x onerror=bad()>");"#;
    let text = format!(
        "/* </td></script><script>window.bad = 1</script> <!-- */\nbyte x;\n\
         active proctype P()\n{{\n{line}\n\tx = 1;\n\tassert(x < 1 && x > 0) /* '\"<svg onload=bad()> */\n}}\n"
    );
    std::fs::write(&model, text).expect("a scratch file");
    let (file, _) = report("evil.html", &["check", model.to_str().expect("a name")], 10);
    let browser = Browser::start("evil");
    browser.resize(1280, 860);
    browser.open(&file);
    assert_no_complaints(&browser);
    assert_eq!(browser.run("return window.bad ?? null"), Value::Null);
    assert_eq!(browser.run("return document.images.length"), 0);
    assert_eq!(browser.run("return document.scripts.length"), 2);
    let source =
        browser.run("return document.querySelector('table.source').rows[4].cells[3].textContent");
    assert_eq!(source, line);
    browser.keys("body", END);
    assert_no_complaints(&browser);
}

#[test]
fn words_of_transactional_memories_have_reports() {
    let (file, _) = report("naive.html", &["tm", "check", "examples/tm/naive.tm"], 10);
    let browser = Browser::start("tm");
    browser.prefer("light");
    browser.resize(1000, 720);
    browser.open(&file);
    assert_no_complaints(&browser);
    assert_eq!(
        browser.run("return document.querySelectorAll('section.run').length"),
        2
    );
    let orders = "return document.querySelectorAll('#run-0 path.arrow.order.key').length";
    assert_eq!(browser.run(orders), 2);
    // The keys go to the run that was touched last.
    browser.click("#run-1 ol.steps li:nth-child(2) button");
    browser.keys("body", RIGHT);
    let current = browser.run(
        "return [...document.querySelectorAll('.step[aria-current]')].map(step => step.querySelector('.no').textContent)",
    );
    assert_eq!(current, serde_json::json!(["1", "3"]));
    browser.run("scrollTo(0, 0); return 0");
    picture(&browser, "report-tm.png");
    browser.resize(360, 740);
    assert_fits(&browser, 360);
    // A loop.
    let (file, _) = report(
        "dstm.html",
        &[
            "tm",
            "check",
            "examples/tm/dstm.tm",
            "--property",
            "wait-freedom",
        ],
        10,
    );
    browser.open(&file);
    assert_no_complaints(&browser);
}

/// A history of four processes in which two transactions among many skew their writes.
fn crowded_history() -> String {
    let mut lines = Vec::new();
    let mut add = |kind: &str, process: usize, value: &str| {
        lines.push(format!(
            "{{:type :{kind}, :process {process}, :value {value}}}"
        ));
    };
    for round in 0..120 {
        for process in 0..4 {
            let call = format!("[[:append {} {round}]]", 10 + process);
            add("invoke", process, &call);
        }
        for process in 0..4 {
            let answer = format!("[[:append {} {round}]]", 10 + process);
            add("ok", process, &answer);
        }
        if round == 60 {
            add("invoke", 1, "[[:r 1 nil] [:append 2 1]]");
            add("invoke", 2, "[[:r 2 nil] [:append 1 1]]");
            add("ok", 1, "[[:r 1 []] [:append 2 1]]");
            add("ok", 2, "[[:r 2 []] [:append 1 1]]");
        }
    }
    add("invoke", 3, "[[:r 1 nil] [:r 2 nil]]");
    add("ok", 3, "[[:r 1 [1]] [:r 2 [1]]]");
    lines.join("\n")
}

#[test]
fn histories_are_shown_over_time_and_zoom() {
    let history = scratch("crowded.edn");
    std::fs::write(&history, crowded_history()).expect("a writable scratch directory");
    let history = history.display().to_string();
    let (file, answer) = report("crowded.html", &["tm", "history", &history], 10);
    assert_eq!(answer["strongest"], "snapshot-isolation");
    let browser = Browser::start("history");
    browser.prefer("light");
    browser.resize(1100, 800);
    browser.open(&file);
    assert_no_complaints(&browser);
    let drawn = || {
        let counts = browser.run(
            "const all = name => document.querySelectorAll(`#run-0 .timeline ${name}`).length;
             return [all('.bar-of'), all('.bar-of.matters'), all('path.arrow'), all('.lane-name')];",
        );
        let number = |at: usize| counts[at].as_u64().expect("a number");
        (number(0), number(1), number(2), number(3))
    };
    // The cycle first: two transactions, two arrows, and who overlaps them.
    let (bars, matter, arrows, lanes) = drawn();
    assert_eq!((matter, arrows), (2, 2));
    assert!(lanes >= 2);
    browser.click("#run-0 [data-zoom=all]");
    let (all, matter, arrows, _) = drawn();
    assert!(all > bars + 20, "{all} bars, before {bars}");
    assert_eq!((matter, arrows), (2, 2));
    // Closer and closer, until less is left than the cycle.
    let width = "return Number(document.querySelector('#run-0 .bar-of.matters rect').getAttribute('width'))";
    let before = browser.run(width).as_f64().expect("a width");
    browser.click("#run-0 [data-zoom=cycle]");
    let after = browser.run(width).as_f64().expect("a width");
    assert!(after > 2.0 * before, "{after} after {before}");
    browser.click("#run-0 [data-zoom=in]");
    browser.click("#run-0 [data-zoom=out]");
    browser.click("#run-0 [data-zoom=right]");
    browser.click("#run-0 [data-zoom=cycle]");
    assert_eq!(drawn().1, 2);
    assert_no_complaints(&browser);
    browser.resize(360, 740);
    assert_fits(&browser, 360);
    let (file, _) = report(
        "long-fork.html",
        &["tm", "history", "examples/histories/long-fork.edn"],
        10,
    );
    browser.resize(1000, 720);
    browser.open(&file);
    assert_no_complaints(&browser);
    browser.run("document.getElementById('run-0').scrollIntoView(); return 0");
    picture(&browser, "report-history.png");
}

/// A run of eight threads and hundreds of steps.
const CROWD: &str = "\
#include <assert.h>
#include <pthread.h>
int counter, done;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *worker(void *arg) {
    for (int i = 0; i < 12; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    int seen = done;
    done = seen + 1;
    return NULL;
}
int main(void) {
    pthread_t t[7];
    for (int i = 0; i < 7; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 7; i++)
        pthread_join(t[i], NULL);
    assert(counter == 84);
    assert(done == 7);
}
";

/// The phrases of the story, the address, the search and the table of values lead to steps.
#[cfg(feature = "c")]
#[test]
fn a_long_run_can_be_searched() {
    let program = scratch("crowd.c");
    std::fs::write(&program, CROWD).expect("a scratch file");
    let program = program.to_str().expect("a name");
    let arguments = ["check", program, "--property", "unreach-call"];
    let (file, answer) = report("crowd.html", &arguments, 10);
    let steps = answer["trace"].as_array().expect("a trace");
    let browser = Browser::start("search");
    browser.prefer("light");
    browser.resize(1400, 900);
    browser.open(&file);
    assert_no_complaints(&browser);
    let visible =
        "const now = document.querySelector('.step[aria-current]').getBoundingClientRect();
         const track = document.querySelector('.track').getBoundingClientRect();
         return now.top >= Math.max(0, track.top) - 1
           && now.bottom <= Math.min(innerHeight, track.bottom) + 1;";

    // The keyboard keeps the step in the window, wherever the page is.
    browser.run("scrollTo(0, 0); return 0");
    browser.keys("body", END);
    browser.run("return new Promise(done => setTimeout(done, 700))");
    assert_eq!(browser.run(visible), true);
    assert_eq!(
        browser.run("return location.hash"),
        format!("#run-0-step-{}", steps.len())
    );

    // A phrase of the story leads to the step that it is about.
    let phrases = browser
        .run("return [...document.querySelectorAll('.story a')].map(a => [a.textContent, a.hash])");
    let phrases = phrases.as_array().expect("links");
    assert!(phrases.len() >= 3, "{phrases:?}");
    for phrase in phrases {
        let (text, hash) = (phrase[0].as_str(), phrase[1].as_str());
        let step = hash.and_then(|hash| hash.rsplit('-').next()?.parse::<usize>().ok());
        let line = &steps[step.expect("a step") - 1]["line"];
        assert_eq!(text, Some(format!("line {line}").as_str()));
    }
    browser.click(".story a");
    browser.run("return new Promise(done => setTimeout(done, 700))");
    let hash = phrases[0][1].as_str().expect("an address");
    assert_eq!(format!("#run-0-step-{}", shown(&browser).0), hash);
    assert_eq!(browser.run(visible), true);

    // Only the steps of a thread, then those of them that speak of a variable.
    let listed = || {
        let listed = browser.run(
            "return [...document.querySelectorAll('ol.steps li:not([hidden]) .who')].map(who => who.textContent)",
        );
        listed.as_array().expect("names").clone()
    };
    let of_main = steps.iter().filter(|step| step["name"] == "main[0]");
    browser.run(
        "const choice = document.querySelector('.filter select');
         choice.value = '0'; choice.dispatchEvent(new Event('change')); return 0",
    );
    assert!(listed().iter().all(|name| name == "main[0]"));
    assert_eq!(listed().len(), of_main.count());
    browser.keys(".filter input", "assert");
    assert_eq!(listed().len(), 2);
    browser.run(
        "const choice = document.querySelector('.filter select');
         choice.value = ''; choice.dispatchEvent(new Event('change')); return 0",
    );
    assert_eq!(listed().len(), 2);

    // A table with a row for each change; handles of threads are threads.
    browser.run("document.querySelector('.over-time').open = true; return 0");
    browser.run("return new Promise(done => setTimeout(done, 100))");
    let table = browser.run("return document.querySelector('table.times').innerText");
    let table = table.as_str().expect("a table");
    for expected in ["counter", "main[0]:t[0]", "worker[1]"] {
        assert!(table.contains(expected), "no {expected} in {table}");
    }
    browser
        .run("document.querySelector('table.times tbody tr:last-child button').click(); return 0");
    assert!(shown(&browser).0 > 300);
    assert_no_complaints(&browser);

    // The address is enough to come back.
    let address = format!("file://{}#run-0-step-7", file.display());
    browser.open_address("about:blank");
    browser.open_address(&address);
    assert_eq!(shown(&browser).0, 7);
}

/// Pages of each kind, at two widths and in both themes: nothing is wider than the window. The
/// pictures are left beside the reports, to be looked at.
#[cfg(feature = "c")]
#[test]
fn pages_of_each_kind_fit() {
    let crowd = scratch("crowd-fit.c");
    std::fs::write(&crowd, CROWD).expect("a scratch file");
    let crowd = crowd.to_str().expect("a name");
    let starvation = "examples/liveness/peterson_starvation.pml";
    let pages: [(&str, &[&str], i32, &str); 8] = [
        ("failure", &["examples/c/lost_update.c"], 10, ".story a"),
        (
            "deadlock",
            &["examples/c/philosophers.c"],
            10,
            "figure.waits path.arrow",
        ),
        (
            "wake-up",
            &["examples/c/bounded_queue_lost_wakeup.c"],
            10,
            ".story a",
        ),
        ("memory", &["examples/c/use_after_free.c"], 10, ".story a"),
        ("loop", &[starvation], 10, "path.arrow.loop"),
        ("safe", &["examples/c/lost_update_locked.c"], 0, "ul.why"),
        (
            "unknown",
            &["examples/c/bakery.c", "--bitstate"],
            5,
            ".unknown",
        ),
        (
            "long",
            &[crowd, "--property", "unreach-call"],
            10,
            ".over-time",
        ),
    ];
    let browser = Browser::start("kinds");
    for (name, arguments, code, has) in pages {
        let arguments: Vec<&str> = ["check"].iter().chain(arguments).copied().collect();
        let (file, _) = report(&format!("kind-{name}.html"), &arguments, code);
        for (width, theme) in [
            (1400, "light"),
            (1400, "dark"),
            (480, "light"),
            (480, "dark"),
        ] {
            browser.resize(width, 1000);
            browser.prefer(theme);
            browser.open(&file);
            browser.prefer(theme);
            assert_fits(&browser, u64::from(width));
            let found = browser.run(&format!("return document.querySelectorAll('{has}').length"));
            assert_ne!(found, 0, "{name}: no {has}");
            let shot = browser.screenshot();
            assert!(shot.len() > 5000, "{name}: an empty picture");
            let picture = scratch(&format!("kind-{name}-{width}-{theme}.png"));
            std::fs::write(picture, shot).expect("a writable scratch directory");
        }
        assert_no_complaints(&browser);
    }
}

/// Without a run the page shows the program, what commutes in it, and the figures.
#[test]
fn a_safe_program_has_a_report() {
    let (file, _) = report(
        "locked.html",
        &[
            "check",
            "examples/promela/lost_update_locked.pml",
            "--reduce",
            "dynamic",
        ],
        0,
    );
    let browser = Browser::start("safe");
    browser.resize(1280, 860);
    browser.open(&file);
    assert_no_complaints(&browser);
    let text = browser.run("return document.body.innerText").to_string();
    for expected in [
        "safe",
        "What commutes",
        "protected by",
        "What reductions save",
        "dynamic (this run)",
    ] {
        assert!(text.contains(expected), "no `{expected}` in {text}");
    }
    let chips = browser.run("return document.querySelectorAll('table.source .mv').length");
    assert!(
        chips.as_u64().is_some_and(|chips| chips > 3),
        "{chips} movers beside the source"
    );
    browser.resize(360, 740);
    assert_fits(&browser, 360);
}

/// A report that cannot be written is refused before the search, and nothing is left over.
#[test]
fn a_report_is_written_whole_or_not_at_all() {
    let folder = scratch("no/such/folder/report.html");
    let ended = run(mover()
        .args(["check", "examples/promela/peterson2.pml", "--report"])
        .arg(&folder)
        .current_dir(repository()));
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("cannot write"), "{}", ended.stderr);
    assert!(ended.stdout.is_empty(), "{}", ended.stdout);
    let parts = std::fs::read_dir(scratch(".")).expect("a folder");
    let left = parts
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().ends_with(".part"));
    assert_eq!(left.count(), 0);
}

/// Elements of a kind that are opened are closed, and there are no scripts but the page's own.
#[test]
fn every_unsafe_example_has_a_report() {
    let mut written = 0;
    for model in own_examples("promela", "pml") {
        let text = std::fs::read_to_string(&model).expect("a readable model");
        if !text.contains("expect: unsafe") {
            continue;
        }
        let name = model.to_str().expect("a name");
        let (file, answer) = report("example.html", &["check", name], 10);
        let html = std::fs::read_to_string(file).expect("a report");
        assert!(html.ends_with("</html>\n"), "{name}: cut off");
        for element in [
            "section", "table", "tr", "button", "ol", "li", "div", "span", "script",
        ] {
            let body = html.split("</style>").nth(1).expect("a body");
            let body = body.split("<script>").next().expect("a page");
            let opened = body.matches(&format!("<{element}>")).count()
                + body.matches(&format!("<{element} ")).count();
            let closed = body.matches(&format!("</{element}>")).count();
            assert_eq!(opened, closed, "{name}: {element}");
        }
        let steps = answer["trace"].as_array().expect("a trace").len();
        assert_eq!(html.matches("class=\"who\"").count(), steps, "{name}");
        written += 1;
    }
    assert!(written >= 8, "only {written} reports");
}
