//! The command line.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use self::output::Output;

mod check;
mod demo;
mod domains;
mod explain;
mod output;
mod routes;
mod run;

/// A reverse proxy that moves the accounts of one hostname from a legacy application to a new one.
#[derive(Debug, Parser)]
#[command(name = "fingerpost", version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum Command {
    /// Serve requests until SIGTERM; SIGHUP reads the configuration again.
    Run(RunArgs),
    /// Report everything that is wrong with a configuration; exit 1 if it can't be used.
    Check(CheckArgs),
    /// List the routes, under each host its paths and prefixes.
    Routes(ReadArgs),
    /// Look at hostnames.
    #[command(subcommand)]
    Domains(DomainsCommand),
    /// Say which route a request takes, and why.
    Explain(ExplainArgs),
    /// Serve two small applications behind one hostname on this machine, to try a flip.
    Demo(DemoArgs),
    /// Print the JSON Schema of the configuration.
    Schema(SchemaArgs),
}

#[derive(Debug, Subcommand)]
enum DomainsCommand {
    /// List the prefixes of a hostname that other routes serve.
    Paths(PathsArgs),
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The configuration.
    #[arg(long, value_name = "FILE", default_value = "fingerpost.toml")]
    pub config: PathBuf,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The configuration.
    #[arg(long, value_name = "FILE", default_value = "fingerpost.toml")]
    pub config: PathBuf,
    /// Read requests from standard input, one JSON object a line, and answer each with a line.
    #[arg(long, conflicts_with_all = ["host", "target"])]
    pub jsonl: bool,
    /// Print JSON.
    #[arg(long, conflicts_with = "jsonl")]
    pub json: bool,
    /// The host of the request, as in its Host field.
    #[arg(required_unless_present = "jsonl")]
    pub host: Option<String>,
    /// The path and query of the request.
    #[arg(required_unless_present = "jsonl")]
    pub target: Option<String>,
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Prove that flips work instead of serving: print each step, and exit 0 or 1.
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// The configuration.
    #[arg(value_name = "FILE", default_value = "fingerpost.toml")]
    config: PathBuf,
}

#[derive(Debug, Args)]
struct ReadArgs {
    /// The configuration.
    #[arg(long, value_name = "FILE", default_value = "fingerpost.toml")]
    config: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct PathsArgs {
    /// The hostname.
    #[arg(value_name = "HOST")]
    host: String,
    #[command(flatten)]
    read: ReadArgs,
}

#[derive(Debug, Args)]
struct SchemaArgs {
    /// Print the reference in Markdown instead.
    #[arg(long)]
    markdown: bool,
}

/// Runs a command line, and returns how the process ends: 0 if all went well, 1 if not, 2 if the
/// command line itself is wrong.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // The exit code says it too when there is nobody to read it.
            _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let output = match cli.command {
        Command::Run(args) => run::run(&args.config),
        Command::Check(args) => check::check(&args.config),
        Command::Routes(args) => routes::routes(&args.config, args.json),
        Command::Domains(DomainsCommand::Paths(args)) => {
            domains::paths(&args.read.config, &args.host, args.read.json)
        }
        Command::Explain(args) => match (&args.host, &args.target) {
            (Some(host), Some(target)) => explain::one(&args.config, host, target, args.json),
            _ => explain::lines(&args.config),
        },
        Command::Demo(args) => demo::demo(args.check),
        Command::Schema(args) => Output::new(if args.markdown {
            crate::config::schema::markdown()
        } else {
            crate::config::schema::json()
        }),
    };
    // A reader that has gone away (`| head`) is no failure.
    _ = std::io::stderr().write_all(output.err.as_bytes());
    _ = std::io::stdout().write_all(output.out.as_bytes());
    if output.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
