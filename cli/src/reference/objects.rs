//! Every object that `--json` prints, and its fields: what scripts rely on.

use std::collections::HashMap;

/// The descriptions; how they are written stands at the beginning.
const OBJECTS: &str = include_str!("objects.txt");

/// A field of an object.
#[derive(Clone, Copy)]
pub struct Field {
    pub name: &'static str,
    /// The name of its type: `time` is RFC 3339 with nine digits, `hex` lower-case digits, `any` what the trace says.
    pub of: &'static str,
    /// True if it may be null.
    pub is_nullable: bool,
    /// True if it may be left out.
    pub is_optional: bool,
    pub what: &'static str,
}

impl Field {
    fn parse(line: &'static str) -> Option<Self> {
        let (name, rest) = line.split_once(' ')?;
        let (of, what) = rest.split_once(' ')?;
        let is_optional = of.ends_with('*');
        let is_nullable = is_optional || of.ends_with('?');
        Some(Self { name, of: of.trim_end_matches(['*', '?']), is_nullable, is_optional, what })
    }
}

/// An object, and how to see one.
pub struct Object {
    pub verb: &'static str,
    /// The formats that have it, and the option that shows it.
    pub of: &'static str,
    /// The values of its field `kind`, none of one without.
    pub kinds: Vec<&'static str>,
    /// Arguments that print such objects of shipped samples.
    pub shown_by: Vec<Vec<&'static str>>,
    pub fields: Vec<Field>,
}

/// All of them, in the order of the reference.
pub fn objects() -> Vec<Object> {
    let mut groups: HashMap<&str, Vec<Field>> = HashMap::new();
    let mut objects = Vec::new();
    for block in OBJECTS.split("\n\n").skip(1) {
        let mut lines = block.lines();
        let head = lines.next().unwrap_or_default().trim_matches(['[', ']']);
        let (mut shown_by, mut fields) = (Vec::new(), Vec::new());
        for line in lines {
            if let Some(args) = line.strip_prefix("$ ") {
                shown_by.push(args.split(' ').collect());
            } else if let Some(group) = line.strip_prefix('&') {
                fields.extend(groups.get(group).into_iter().flatten());
            } else {
                fields.extend(Field::parse(line));
            }
        }
        if let Some(group) = head.strip_prefix('&') {
            groups.insert(group, fields);
        } else if let Some((verb, of)) = head.split_once(' ') {
            let (of, kinds) = of.rsplit_once(": ").unwrap_or((of, ""));
            let kinds = kinds.split_whitespace().collect();
            objects.push(Object { verb, of, kinds, shown_by, fields });
        }
    }
    objects
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that is not understood would be left out without a word.
    #[test]
    fn each_line_is_understood() {
        let is = |line: &&str, start: &str| line.starts_with(start);
        let mut groups = Vec::new();
        for line in OBJECTS.lines().skip_while(|line| !line.is_empty()).filter(|line| !line.is_empty()) {
            let field = Field::parse(line);
            let types = ["integer", "number", "text", "time", "hex", "boolean", "object", "list", "any"];
            let is_field = field.is_some_and(|field| types.contains(&field.of));
            let is_known = is(&line, "$ ") || groups.contains(&line);
            let is_head = is(&line, "[") && line.ends_with(']');
            assert!(is_field || is_known || is_head, "{line}");
            if is(&line, "[&") {
                groups.push(line.trim_matches(['[', ']']));
            }
        }
        assert_eq!(objects().len(), OBJECTS.matches("\n[").count() - groups.len());
        assert!(objects().iter().all(|object| !object.fields.is_empty()));
    }
}
