//! The reference of the command: its verbs as clap knows them, and the objects that `--json` prints, from one table.

mod objects;

pub use objects::{Field, Object, objects};

use clap::Command;
use std::fmt::Write;

/// The facts about all JSON.
const ABOUT: &str = "\
`info` and `check` print one object a path, on a line each; `ls` and `cat` one object a line. Integers are in full; those \
of 128 bits, and floats that JSON has no number for, are strings. Bytes are lower-case hex. Of text that is not UTF-8, the \
field is null, and its bytes stand in a field with `_hex` added to the name. Offsets and sizes are in bytes, from the start \
of the file, unless the name says otherwise. Fields may be added; from 0.1.0 on none is renamed. An RDF chunk's records \
(`cat --json`) have `kind`, `chunk`, `entry` and `index`, and the fields of their structure under its own names; those with \
a time have `time_ns`, `time` and `clock`. `cat --json` of CTF metadata prints the fragments as they are, one a line.";

/// The page as Markdown.
pub fn markdown(command: &Command) -> String {
    let mut page = String::from(
        "<!-- Made of cli/src/reference and the options of the command: TRACEGLASS_BLESS=1 writes it anew. -->\n\n\
         # Reference of the `traceglass` command\n\n",
    );
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        let name = verb.get_name();
        let mut verb = verb.clone().term_width(90);
        // A string takes all that is written to it.
        let _ = writeln!(
            page,
            "## `traceglass {name}`\n\n```text\n{}\n```\n",
            verb.render_long_help().to_string().trim()
        );
    }
    let _ = writeln!(
        page,
        "## JSON\n\n{ABOUT}\n\nBelow, `?` marks what may be null, and *optional* what may be left out.\n"
    );
    for object in objects() {
        let kinds = match &object.kinds[..] {
            [] => String::new(),
            kinds => {
                format!(": {}", kinds.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", "))
            }
        };
        let _ = writeln!(
            page,
            "### `{} --json` of {}{kinds}\n\n| field | holds | what |\n|---|---|---|",
            object.verb, object.of
        );
        for field in &object.fields {
            let _ = writeln!(
                page,
                "| `{}` | {} | {} |",
                field.name,
                holds(field),
                field.what.replace('|', "\\|")
            );
        }
        page.push('\n');
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// The part about JSON as a manual page, with the fields.
pub fn manual() -> String {
    let mut page = String::from(
        ".TH traceglass-json 5\n.SH NAME\ntraceglass-json \\- what traceglass prints with \\-\\-json\n.SH DESCRIPTION\n",
    );
    page.push_str(&roff(ABOUT));
    page.push('\n');
    for object in objects() {
        let kinds =
            if object.kinds.is_empty() { String::new() } else { format!(": {}", object.kinds.join(", ")) };
        // A string takes all that is written to it.
        let _ =
            writeln!(page, ".SH \"{} OF {}{}\"", object.verb.to_uppercase(), roff(object.of), roff(&kinds));
        for field in &object.fields {
            let _ = writeln!(page, ".TP\n\\fB{}\\fR ({})\n{}", field.name, holds(field), roff(field.what));
        }
    }
    page
}

fn holds(field: &Field) -> String {
    let null = if field.is_nullable { "?" } else { "" };
    let optional = if field.is_optional { ", optional" } else { "" };
    format!("{}{null}{optional}", field.of)
}

/// Text as troff takes it.
fn roff(text: &str) -> String {
    text.replace('\\', "\\e").replace('`', "").replace('-', "\\-").replace("\n.", "\n\\&.")
}
