//! A real browser, driven by the WebDriver protocol.
//!
//! Chromium is started without a window by its own driver. The driver speaks JSON over HTTP on
//! this machine; the few commands needed here are written out.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use base64::Engine;
use serde_json::{Value, json};

/// Keys that are no characters, as WebDriver calls them.
pub const RIGHT: &str = "\u{e014}";
pub const LEFT: &str = "\u{e012}";
pub const HOME: &str = "\u{e011}";
pub const END: &str = "\u{e010}";

/// Ended and removed when it is dropped.
pub struct Browser {
    driver: Child,
    session: String,
    /// Where the browser keeps its things.
    _profile: Profile,
}

struct Profile(std::path::PathBuf);

impl Drop for Profile {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Browser {
    pub fn start(name: &str) -> Browser {
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("browser-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&profile).expect("a folder for the browser");
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is missing: `make test` installs it");
        let output = BufReader::new(driver.stdout.take().expect("its output"));
        let port = output
            .lines()
            .map_while(Result::ok)
            .find_map(|line| {
                let port = line.split_once("started successfully on port ")?.1;
                port.trim_end_matches('.').parse::<u16>().ok()
            })
            .expect("chromedriver names its port");
        let mut browser = Browser {
            driver,
            session: format!("http://127.0.0.1:{port}/session"),
            _profile: Profile(profile.clone()),
        };
        let options = [
            "--headless".to_string(),
            "--no-sandbox".into(),
            "--disable-gpu".into(),
            "--disable-dev-shm-usage".into(),
            "--disable-background-networking".into(),
            "--disable-component-update".into(),
            "--disable-sync".into(),
            "--no-first-run".into(),
            "--hide-scrollbars".into(),
            format!("--user-data-dir={}", profile.display()),
        ];
        let started = browser.post(
            "",
            json!({"capabilities": {"alwaysMatch": {
                "goog:chromeOptions": {"args": options},
                "goog:loggingPrefs": {"browser": "ALL"},
            }}}),
        );
        let id = started["sessionId"].as_str().expect("a session");
        browser.session = format!("{}/{id}", browser.session);
        browser
    }

    fn answer(&self, path: &str, response: Result<minreq::Response, minreq::Error>) -> Value {
        let response = response.unwrap_or_else(|error| panic!("{path}: {error}"));
        let text = response.as_str().expect("text");
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        assert_eq!(response.status_code, 200, "{path}: {text}");
        value["value"].clone()
    }

    fn post(&self, path: &str, body: Value) -> Value {
        let request = minreq::post(format!("{}{path}", self.session))
            .with_header("Content-Type", "application/json")
            .with_body(body.to_string())
            .with_timeout(60);
        self.answer(path, request.send())
    }

    /// Opens a file of this machine.
    pub fn open(&self, file: &Path) {
        let file = file.canonicalize().expect("the file is there");
        let path: String = file
            .to_string_lossy()
            .bytes()
            .map(|byte| match byte {
                b'/' | b'.' | b'-' | b'_' => char::from(byte).to_string(),
                byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            })
            .collect();
        self.open_address(&format!("file://{path}"));
    }

    pub fn open_address(&self, url: &str) {
        self.post("/url", json!({ "url": url }));
    }

    /// The value of a JavaScript function's body.
    pub fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", json!({"script": script, "args": []}))
    }

    fn find(&self, selector: &str) -> String {
        let found = self.post(
            "/element",
            json!({"using": "css selector", "value": selector}),
        );
        let id = found.as_object().and_then(|object| object.values().next());
        id.and_then(Value::as_str).expect("an element").to_string()
    }

    pub fn click(&self, selector: &str) {
        let element = self.find(selector);
        self.post(&format!("/element/{element}/click"), json!({}));
    }

    /// Types into an element, as a user who has it in focus.
    pub fn keys(&self, selector: &str, text: &str) {
        let element = self.find(selector);
        self.post(&format!("/element/{element}/value"), json!({"text": text}));
    }

    fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.post(
            "/goog/cdp/execute",
            json!({"cmd": command, "params": parameters}),
        )
    }

    pub fn resize(&self, width: u32, height: u32) {
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}),
        );
    }

    /// What the system asks for: `light` or `dark`.
    pub fn prefer(&self, theme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": theme}]);
        self.devtools("Emulation.setEmulatedMedia", json!({"features": features}));
        // The page hears of it when it is drawn next.
        let drawn = "return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))";
        self.run(drawn);
    }

    /// What the browser complained of since it was asked last.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.post("/se/log", json!({"type": "browser"}));
        let entries = log.as_array().cloned().unwrap_or_default();
        entries.iter().map(Value::to_string).collect()
    }

    pub fn screenshot(&self) -> Vec<u8> {
        let shot = self.devtools("Page.captureScreenshot", json!({"format": "png"}));
        let text = shot["data"].as_str().expect("a picture");
        let engine = base64::engine::general_purpose::STANDARD;
        engine.decode(text).expect("base64")
    }

    /// How many pages the document has on paper.
    pub fn printed(&self) -> usize {
        let paper = self.post("/print", json!({}));
        let engine = base64::engine::general_purpose::STANDARD;
        let pdf = engine
            .decode(paper.as_str().expect("a document"))
            .expect("base64");
        let text = String::from_utf8_lossy(&pdf);
        text.matches("/Type /Page\n").count() + text.matches("/Type /Page /").count()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = minreq::delete(&self.session).with_timeout(10).send();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
