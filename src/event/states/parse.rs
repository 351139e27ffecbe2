//! The text of a table.

use super::lexer::{Lexer, Word};
use super::op::{Op, Ops};
use super::rule::{Rule, RuleKind};
use super::table::Table;
use super::template::Compiler;
use super::text::hash;
use crate::error::Result;

impl<'t> Table<'t, '_> {
    /// Adds the rules of a text. Of two rules for the same slice the one that was added first counts.
    ///
    /// # Errors
    /// The place in the text that is not as it should be; `CapacityExceeded`.
    pub fn add(&mut self, text: &'t str) -> Result<()> {
        let mut lexer = Lexer::new(text);
        loop {
            let key = match lexer.next_word()? {
                Word::End => return Ok(()),
                Word::Bare(key) => key,
                _ => return Err(lexer.unexpected(SECTION)),
            };
            let kind = match key {
                "state" => RuleKind::State,
                "let" => RuleKind::Let,
                "label" => RuleKind::Label,
                "slice" => RuleKind::Slice,
                _ => {
                    self.setting(key, &mut lexer)?;
                    continue;
                }
            };
            lexer.expect(b'=', "=")?;
            lexer.expect(b'[', "a list of rules")?;
            loop {
                match lexer.next_word()? {
                    Word::Mark(b']') => break,
                    Word::Mark(b',') => {}
                    Word::Mark(b'{') => self.rule(kind, &mut lexer)?,
                    _ => return Err(lexer.unexpected("a rule in { }, or ]")),
                }
            }
        }
    }

    /// Reads a setting, which is no list of rules.
    fn setting(&mut self, key: &'t str, lexer: &mut Lexer<'t>) -> Result<()> {
        match key.strip_prefix("table.") {
            Some(name) => {
                lexer.expect(b'=', "=")?;
                lexer.expect(b'{', "{")?;
                self.values_of(name, lexer)
            }
            None if matches!(key, "cpu" | "thread" | "keys") => {
                lexer.expect(b'=', "=")?;
                let first = self.op_count();
                self.list(lexer, |table, lexer, text| Compiler { table, lexer }.alternative(key, text))?;
                let places = self.ops_since(first);
                let place = match key {
                    "cpu" => &mut self.cpu,
                    "thread" => &mut self.thread,
                    _ => &mut self.keys,
                };
                if place.len == 0 {
                    *place = places;
                }
                Ok(())
            }
            None => Err(lexer.unexpected(SECTION)),
        }
    }

    /// The entries of a table of values.
    fn values_of(&mut self, name: &'t str, lexer: &mut Lexer<'t>) -> Result<()> {
        let first = self.op_count();
        let before = self.values;
        self.push_op(Op::Table(name, before))?;
        loop {
            let key = match lexer.next_word()? {
                Word::Mark(b'}') => break,
                Word::Mark(b',') => continue,
                Word::Bare(key) | Word::Quoted(key) => key,
                _ => return Err(lexer.unexpected("a value, or }")),
            };
            lexer.expect(b'=', "=")?;
            match lexer.next_word()? {
                Word::Quoted(value) => self.push_op(Op::Entry(key, value, written(key)))?,
                _ => return Err(lexer.unexpected("a text in quotes")),
            }
        }
        self.values = self.ops_since(first);
        Ok(())
    }

    /// A rule, after its {.
    fn rule(&mut self, kind: RuleKind, lexer: &mut Lexer<'t>) -> Result<()> {
        let mut rule = Rule { kind, ..Rule::EMPTY };
        loop {
            let key = match lexer.next_word()? {
                Word::Mark(b'}') => break,
                Word::Mark(b',') => continue,
                Word::Bare(key) => key,
                _ => return Err(lexer.unexpected("the name of a part of a rule, or }")),
            };
            let is_known = match kind {
                RuleKind::State => STATE_PARTS,
                RuleKind::Let => LET_PARTS,
                RuleKind::Label => LABEL_PARTS,
                RuleKind::Slice => SLICE_PARTS,
            };
            if !is_known.contains(&key) {
                return Err(lexer.unexpected("a part that such a rule has"));
            }
            lexer.expect(b'=', "=")?;
            self.part(key, &mut rule, lexer)?;
        }
        let is_whole = rule.on.len > 0
            && rule.value.is_some()
            && (rule.track.is_some() || kind == RuleKind::Let)
            && (kind != RuleKind::Let || rule.key.is_some() && rule.map != 0)
            && (kind != RuleKind::Slice || rule.end.len > 0);
        if !is_whole {
            return Err(lexer.unexpected("all parts of the rule before its }"));
        }
        self.push_rule(rule)
    }

    /// A part of a rule, after its =.
    fn part(&mut self, key: &'t str, rule: &mut Rule<'t>, lexer: &mut Lexer<'t>) -> Result<()> {
        match key {
            "on" | "begin" => rule.on = self.texts(lexer)?,
            "end" => rule.end = self.texts(lexer)?,
            "args" => rule.args = self.args(lexer)?,
            "end_args" => rule.end_args = self.args(lexer)?,
            "keep" => {
                let first = self.op_count();
                self.list(lexer, |table, _, text| table.push_op(Op::Hash(hash(0, text))))?;
                rule.keep = self.ops_since(first);
            }
            "generic" => rule.generic = truth(lexer)?,
            "key_optional" => rule.key_optional = truth(lexer)?,
            _ => {
                let Word::Quoted(text) = lexer.next_word()? else {
                    return Err(lexer.unexpected("a text in quotes"));
                };
                match key {
                    "nest" if text == "one" => rule.one = true,
                    "nest" => return Err(lexer.unexpected("\"one\"")),
                    "map" => rule.map = hash(0, text),
                    _ => self.templates(key, text, rule, lexer)?,
                }
            }
        }
        Ok(())
    }

    fn templates(&mut self, key: &str, text: &'t str, rule: &mut Rule<'t>, lexer: &Lexer<'t>) -> Result<()> {
        let mut compiler = Compiler { table: self, lexer };
        match key {
            "track" => rule.track = Some(compiler.template(text)?),
            "key" => rule.key = Some(compiler.template(text)?),
            "was" => rule.was = Some(compiler.template(text)?),
            "none" => rule.none = Some(compiler.condition(text)?),
            "was_none" => rule.was_none = Some(compiler.condition(text)?),
            "skip" => rule.skip = Some(compiler.condition(text)?),
            _ => rule.value = Some(compiler.template(text)?),
        }
        Ok(())
    }

    /// Patterns of events.
    fn texts(&mut self, lexer: &mut Lexer<'t>) -> Result<Ops> {
        let first = self.op_count();
        self.list(lexer, |table, _, text| table.push_op(Op::Text(text)))?;
        Ok(self.ops_since(first))
    }

    /// Names of arguments.
    fn args(&mut self, lexer: &mut Lexer<'t>) -> Result<Ops> {
        let first = self.op_count();
        self.list(lexer, |table, _, text| {
            table.push_op(match text {
                "*" => Op::All,
                "$cpu" => Op::Cpu,
                _ => Op::Text(text),
            })
        })?;
        Ok(self.ops_since(first))
    }

    /// A text, or a list of texts.
    fn list(
        &mut self,
        lexer: &mut Lexer<'t>,
        mut each: impl FnMut(&mut Self, &Lexer<'t>, &'t str) -> Result<()>,
    ) -> Result<()> {
        match lexer.next_word()? {
            Word::Quoted(text) => return each(self, lexer, text),
            Word::Mark(b'[') => {}
            _ => return Err(lexer.unexpected("a text in quotes, or a list of them")),
        }
        loop {
            match lexer.next_word()? {
                Word::Quoted(text) => each(self, lexer, text)?,
                Word::Mark(b',') => {}
                Word::Mark(b']') => return Ok(()),
                _ => return Err(lexer.unexpected("a text in quotes, or ]")),
            }
        }
    }
}

/// The words that can stand at the beginning of a line.
const SECTION: &str = "state, let, label, slice, cpu, thread, keys or table.NAME";

/// The parts of the kinds of rules.
const STATE_PARTS: &[&str] = &["on", "track", "value", "was", "none", "was_none", "skip", "keep", "args"];
const LET_PARTS: &[&str] = &["on", "map", "key", "value"];
const LABEL_PARTS: &[&str] = &["on", "track", "label"];
const SLICE_PARTS: &[&str] =
    &["begin", "end", "track", "key", "name", "args", "end_args", "nest", "key_optional", "generic"];

fn truth(lexer: &mut Lexer<'_>) -> Result<bool> {
    match lexer.next_word()? {
        Word::Bare("true") => Ok(true),
        Word::Bare("false") => Ok(false),
        _ => Err(lexer.unexpected("true or false")),
    }
}

/// The number that a text is, as templates write it: without a sign in front, and without zeros.
fn written(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain || text == "0")
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn numbers_are_those_that_templates_write() {
        for (text, number) in [
            ("0", Some(0)),
            ("255", Some(255)),
            ("-7", Some(-7)),
            ("18446744073709551615", Some(u64::MAX.into())),
        ] {
            assert_eq!(written(text), number, "{text}");
        }
        for text in ["", "-", "00", "-0", "07", "+1", "1 ", "0x1", "a"] {
            assert_eq!(written(text), None, "{text}");
        }
    }
}
