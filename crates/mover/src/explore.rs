//! `mover explore`: the state space of a program, walked in a browser.
//!
//! A server on this machine's loopback address has the program; the page chooses steps
//! ([`mover_report::html::explorer`]). The server keeps nothing about its users: each request carries
//! the whole schedule. The run of the last request is kept only to save time.
//!
//! Other pages in the same browser, and other users of the machine, can connect to a loopback
//! address. So every request needs a token that is in the printed address alone, and has to name
//! this address as its host: a foreign name that was made to point here is refused.

use std::fs::File;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use mover_check::explore::Explorer;
use mover_cli::output::print;
use mover_cli::{CliError, Exit};
use mover_engine::{Control, Task};
use mover_ir::semantics::{Move, Step};
use mover_report::html::explorer;
use mover_report::json::{read_trace_file, trace_file};
use serde::Deserialize;
use serde_json::{Value, json};
use tiny_http::{Header, Method, Request, Response, Server};

use crate::input::{self, InputArgs};
use crate::signals::end_on_signal;

/// A schedule that is longer is not sent by a page.
const MOST_BYTES: u64 = 4 << 20;

/// How long a state is looked for, and among how many.
const LOOKING: Duration = Duration::from_secs(10);
const MOST_STATES: usize = 200_000;

/// Each step is told with its transaction, so that the time of an answer grows with the square.
const MOST_STEPS: usize = 5_000;

#[derive(Args)]
pub struct ExploreArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Begin with this run, written with `mover check --trace`
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    /// Port of the page; 0 takes any that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
}

#[derive(Deserialize)]
struct AskedMove {
    thread: usize,
    edge: usize,
}

#[derive(Deserialize)]
struct AskedStep {
    #[serde(flatten)]
    by: AskedMove,
    choice: String,
    with: Option<AskedMove>,
}

#[derive(Deserialize)]
struct Asked {
    schedule: Vec<AskedStep>,
    /// Expressions that are evaluated in each state.
    #[serde(default)]
    watch: Vec<String>,
    /// What is looked for.
    #[serde(default)]
    condition: String,
}

/// Why a request has no answer, as a sentence for the page.
struct Refusal(u16, String);

fn refusal(error: impl std::fmt::Display) -> Refusal {
    Refusal(400, error.to_string())
}

pub fn run(mut args: ExploreArgs) -> Result<Exit, CliError> {
    args.input.complete()?;
    end_on_signal();
    let mut properties = Vec::new();
    let mut start = Vec::new();
    if let Some(path) = &args.trace {
        let no_trace = |error: &dyn std::error::Error| {
            CliError::input("U004", format!("{}: {error}", path.display()))
        };
        let text = std::fs::read_to_string(path).map_err(|error| no_trace(&error))?;
        let claim = read_trace_file(&text).map_err(|error| no_trace(&error))?;
        properties = claim.properties;
        start = claim.violation.steps;
    }
    let input = input::read(&args.input, &properties)?;
    let task = Task::new(input.program, input.properties);
    let mut explorer = Explorer::new(&task);
    explorer
        .follow(&start)
        .map_err(|error| CliError::input("U005", format!("not a run of this program: {error}")))?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let server = Server::http(address).map_err(|error| {
        CliError::output("U003", format!("cannot listen on {address}: {error}"))
    })?;
    let Some(address) = server.server_addr().to_ip() else {
        return Err(CliError::internal("the server has no address"));
    };
    let token = token()?;
    let page = explorer::page(task.program(), &start);
    print(&format!(
        "open http://{address}/?token={token}\nCtrl-C ends it\n"
    ))?;
    let mut session = Session {
        task: &task,
        explorer,
        address,
        token,
        page,
    };
    for request in server.incoming_requests() {
        session.answer(request);
    }
    Ok(Exit::Success)
}

/// A number that nobody can guess.
fn token() -> Result<String, CliError> {
    let mut bytes = [0; 16];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| CliError::internal(format!("there are no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

struct Session<'t> {
    task: &'t Task,
    explorer: Explorer<'t>,
    address: SocketAddr,
    token: String,
    page: String,
}

impl Session<'_> {
    fn answer(&mut self, mut request: Request) {
        let (status, kind, body) = match self.reply(&mut request) {
            Ok(Reply::Page) => (200, "text/html; charset=utf-8", self.page.clone()),
            Ok(Reply::Data(value)) => (200, "application/json", value.to_string()),
            Err(Refusal(status, error)) => {
                let error = json!({ "error": error });
                (status, "application/json", error.to_string())
            }
        };
        let mut response = Response::from_string(body).with_status_code(status);
        for (name, value) in [
            ("Content-Type", kind),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
        ] {
            if let Ok(header) = Header::from_bytes(name, value) {
                response.add_header(header);
            }
        }
        // A page that went away needs no answer.
        let _ = request.respond(response);
    }

    fn reply(&mut self, request: &mut Request) -> Result<Reply, Refusal> {
        let header = |name: &'static str| {
            let mut headers = request.headers().iter();
            let found = headers.find(|header| header.field.equiv(name));
            found.map(|header| header.value.as_str().to_string())
        };
        let port = self.address.port();
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let named = (request.headers().iter()).filter(|header| header.field.equiv("Host"));
        let named: Vec<&str> = named.map(|header| header.value.as_str()).collect();
        if !matches!(&named[..], [host] if hosts.iter().any(|known| known == host)) {
            return Err(Refusal(403, "this address has another name".into()));
        }
        let (path, query) = match request.url().split_once('?') {
            Some((path, query)) => (path.to_string(), query.to_string()),
            None => (request.url().to_string(), String::new()),
        };
        let shown = match request.method() {
            Method::Get => query.strip_prefix("token=").map(str::to_string),
            _ => header("X-Mover-Token"),
        };
        if !shown.is_some_and(|shown| is_equal(&shown, &self.token)) {
            let message = "the token is missing; open the address that `mover explore` printed";
            return Err(Refusal(403, message.into()));
        }
        match (request.method(), path.as_str()) {
            (Method::Get, "/") => Ok(Reply::Page),
            (Method::Post, "/api/situation") => self.situation(asked(request)?),
            (Method::Post, "/api/find") => self.find(asked(request)?),
            (Method::Post, "/api/export") => self.export(asked(request)?),
            _ => Err(Refusal(404, "there is no such page".into())),
        }
    }

    fn follow(&mut self, asked: &Asked) -> Result<(), Refusal> {
        if asked.schedule.len() > MOST_STEPS {
            let message = format!("a run of more than {MOST_STEPS} steps is not shown here");
            return Err(Refusal(400, message));
        }
        let steps: Result<Vec<Step>, Refusal> = asked.schedule.iter().map(step).collect();
        self.explorer.follow(&steps?).map_err(refusal)
    }

    fn situation(&mut self, asked: Asked) -> Result<Reply, Refusal> {
        self.follow(&asked)?;
        let mut watched = Vec::new();
        for text in &asked.watch {
            let values = self.explorer.watch(text).map_err(refusal)?;
            watched.push(explorer::watched(&values));
        }
        let situation = explorer::situation(&self.explorer.situation());
        Ok(Reply::Data(
            json!({ "situation": situation, "watched": watched }),
        ))
    }

    fn find(&mut self, asked: Asked) -> Result<Reply, Refusal> {
        self.follow(&asked)?;
        let control = Control::unlimited().with_deadline(Some(Instant::now() + LOOKING));
        let found = self.explorer.find(&asked.condition, MOST_STATES, &control);
        Ok(Reply::Data(explorer::found(&found.map_err(refusal)?)))
    }

    fn export(&mut self, asked: Asked) -> Result<Reply, Refusal> {
        self.follow(&asked)?;
        let Some(trace) = self.explorer.counterexample() else {
            return Err(Refusal(400, "the run violates nothing".into()));
        };
        let name = &self.task.program().info.name;
        let file = trace_file(name, &trace, self.task.properties());
        Ok(Reply::Data(file))
    }
}

enum Reply {
    Page,
    Data(Value),
}

/// Takes as long for every wrong token.
fn is_equal(shown: &str, token: &str) -> bool {
    let differs = |(a, b): (u8, u8)| a ^ b;
    shown.len() == token.len()
        && shown
            .bytes()
            .zip(token.bytes())
            .map(differs)
            .fold(0, |a, b| a | b)
            == 0
}

fn step(asked: &AskedStep) -> Result<Step, Refusal> {
    let moved = |by: &AskedMove| Move {
        thread: by.thread,
        edge: by.edge,
    };
    Ok(Step {
        by: moved(&asked.by),
        with: asked.with.as_ref().map(moved),
        choice: asked.choice.parse().map_err(refusal)?,
    })
}

fn asked(request: &mut Request) -> Result<Asked, Refusal> {
    let mut body = Vec::new();
    let mut reader = request.as_reader().take(MOST_BYTES + 1);
    reader.read_to_end(&mut body).map_err(refusal)?;
    if body.len() as u64 > MOST_BYTES {
        return Err(Refusal(413, "the request is too large".into()));
    }
    serde_json::from_slice(&body).map_err(refusal)
}
