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
mod hash_password;
mod live;
mod output;
mod routes;
mod run;
mod token;

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
    Routes(RoutesArgs),
    /// Look at hostnames.
    #[command(subcommand)]
    Domains(DomainsCommand),
    /// Say which route a request takes, and why.
    Explain(ExplainArgs),
    /// List the past maps of a hostname: who changed what, and when.
    History(HistoryArgs),
    /// Manage the credentials of the write door.
    #[command(subcommand)]
    Token(TokenCommand),
    /// Hash the password on standard input, for the users of `auth = { basic = ... }`.
    HashPassword,
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

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Make a token, and print it: this once.
    Create(TokenCreateArgs),
    /// List the tokens, without the secrets.
    List(TokenListArgs),
    /// Make a token worthless.
    Revoke(TokenRevokeArgs),
}

#[derive(Debug, Args)]
struct StoreArgs {
    /// The configuration, which says where the claim store is.
    #[arg(long, value_name = "FILE", default_value = "fingerpost.toml")]
    config: PathBuf,
}

#[derive(Debug, Args)]
struct TokenCreateArgs {
    /// What the token may do: publish, instance (services), person, or operator.
    #[arg(long)]
    role: String,
    /// The account that it is confined to; an operator has none.
    #[arg(long)]
    account: Option<String>,
    /// The app that it is confined to.
    #[arg(long, requires = "account")]
    app: Option<String>,
    /// What people call it: who has it, or what for.
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Args)]
struct TokenListArgs {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Args)]
struct TokenRevokeArgs {
    /// The id that `token list` shows, or enough of its beginning.
    id: String,
    #[command(flatten)]
    store: StoreArgs,
}

/// Which running box to ask.
#[derive(Debug, Args)]
pub struct AdminArgs {
    /// Ask a running box, by the URL of its admin listener, instead of reading the configuration.
    #[arg(long, value_name = "URL", conflicts_with = "config")]
    pub admin: Option<String>,
    /// The token to ask with; without it FINGERPOST_TOKEN.
    #[arg(long, requires = "admin")]
    pub token: Option<String>,
}

impl AdminArgs {
    /// Takes the token from the environment where the command line has none.
    fn with_environment(mut self) -> Self {
        #[expect(clippy::disallowed_methods, reason = "this is the command line")]
        let from_environment = || std::env::var("FINGERPOST_TOKEN").ok();
        self.token = self.token.or_else(from_environment);
        self
    }
}

#[derive(Debug, Args)]
struct HistoryArgs {
    /// The hostname.
    #[arg(value_name = "HOST")]
    host: String,
    /// Print the whole map as it was after the change of this number.
    #[arg(long)]
    number: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// The URL of the admin listener of a running box.
    #[arg(long, value_name = "URL")]
    admin: String,
    /// The token to ask with; without it FINGERPOST_TOKEN.
    #[arg(long)]
    token: Option<String>,
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
    #[arg(long, conflicts_with_all = ["host", "target", "admin"])]
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
    /// The box to ask instead.
    #[command(flatten)]
    pub admin: AdminArgs,
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
struct RoutesArgs {
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    admin: AdminArgs,
}

#[derive(Debug, Args)]
struct PathsArgs {
    /// The hostname.
    #[arg(value_name = "HOST")]
    host: String,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    admin: AdminArgs,
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
        Command::Routes(args) => {
            let (read, admin) = (args.read, args.admin.with_environment());
            if admin.admin.is_some() {
                live::routes(&admin, read.json)
            } else {
                routes::routes(&read.config, read.json)
            }
        }
        Command::Domains(DomainsCommand::Paths(args)) => {
            let (read, admin) = (args.read, args.admin.with_environment());
            if admin.admin.is_some() {
                live::paths(&admin, &args.host, read.json)
            } else {
                domains::paths(&read.config, &args.host, read.json)
            }
        }
        Command::Explain(args) => {
            let admin = args.admin.with_environment();
            match (&args.host, &args.target) {
                (Some(host), Some(target)) if admin.admin.is_some() => {
                    live::explain(&admin, host, target, args.json)
                }
                (Some(host), Some(target)) => explain::one(&args.config, host, target, args.json),
                _ => explain::lines(&args.config),
            }
        }
        Command::History(args) => {
            let admin = AdminArgs { admin: Some(args.admin), token: args.token };
            live::history(&admin.with_environment(), &args.host, args.number, args.json)
        }
        Command::Token(command) => token::token(&command),
        Command::HashPassword => hash_password::hash_password(),
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
