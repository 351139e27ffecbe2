//! Whoever searches for a field as its document spells it finds the code.

use std::path::Path;

/// All source code in a folder.
fn code(folder: &Path) -> String {
    let mut code = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            code += &self::code(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            code += &std::fs::read_to_string(&path).unwrap();
        }
    }
    code
}

/// True if `name` is that of an item or a variant, or an alias of one.
fn leads_somewhere(name: &str, code: &str) -> bool {
    if code.contains(&format!("#[doc(alias = \"{name}\")]")) {
        return true;
    }
    code.lines().map(str::trim_start).any(|line| {
        let public = line.strip_prefix("pub ").unwrap_or("");
        let item = ["const fn ", "fn ", "struct ", "enum ", "mod "]
            .iter()
            .find_map(|keyword| public.strip_prefix(keyword))
            .unwrap_or(line);
        let after = item.strip_prefix(name).and_then(|rest| rest.chars().next());
        let is_item = item.len() < line.len();
        let is_variant = !is_item && name.starts_with(|c: char| c.is_ascii_uppercase());
        match after {
            Some('(' | '<' | ' ' | ';' | '{') if is_item => true,
            Some('(' | ',' | ' ') if is_variant => true,
            _ => false,
        }
    })
}

#[test]
fn names_of_the_documents_lead_to_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = std::fs::read_to_string(root.join("tests/field-names.txt")).unwrap();
    let (mut format, mut source, mut read, mut lost) = ("", String::new(), 0, Vec::new());
    for line in names.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            (format, source) = (name, code(&root.join("src").join(name)));
            continue;
        }
        for name in line.split_whitespace() {
            read += 1;
            if !leads_somewhere(name, &source) {
                lost.push(format!("{format}: {name}"));
            }
        }
    }
    assert!(read > 140, "{read} names were read");
    assert!(lost.is_empty(), "names that lead nowhere: {lost:?}");
    // The test would notice.
    assert!(!leads_somewhere("noSuchField", &source));
}

/// The fields of a structure lie one after the other, from its first byte to its last, and the table in its
/// documentation has a row for each.
#[cfg(feature = "rdf")]
#[test]
fn fields_tile_their_structures() {
    use traceglass::LayoutField;
    use traceglass::rdf::File;

    let data = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/sample.rdf")).unwrap();
    let file = File::parse(&data).unwrap();
    let entry = file.index().get(1).unwrap();
    let structures: [(u64, u64, Vec<LayoutField<'_>>, &str); 2] = [
        (0, 32, file.header().fields().collect(), include_str!("../src/rdf/header.rs")),
        (entry.offset(), 64, entry.fields().collect(), include_str!("../src/rdf/index.rs")),
    ];
    for (start, size, fields, source) in structures {
        let mut at = start;
        for field in fields {
            assert_eq!(field.offset(), at, "{field:?}");
            let row = format!("/// | {} | {} |", field.offset() - start, field.size());
            assert!(source.contains(&row), "the table has no row {row}");
            at += field.size();
        }
        assert_eq!(at - start, size);
    }
}
