#![cfg(feature = "ctf")]
use traceglass::ctf::metadata::{Language, MetadataStream};
use traceglass::ctf::schema::tsdl::{self, Workspace};

#[test]
fn probe() {
    let Some(root) = std::env::var_os("TRACEGLASS_VECTORS") else { return };
    let root = std::path::Path::new(&root).join("ctf1-streams");
    let index = std::fs::read_to_string(root.join("index.ndjson")).unwrap();
    let mut bad = 0;
    let mut n = 0;
    for line in index.lines() {
        let d: serde_json::Value = serde_json::from_str(line).unwrap();
        let dir = root.join(d["set"].as_str().unwrap()).join(d["name"].as_str().unwrap());
        let data = std::fs::read(dir.join("metadata")).unwrap();
        let expect_ok = d["verdict"] != "invalid-metadata";
        let mut nodes = vec![tsdl::TypeNode::default(); 4000];
        let mut names = vec![tsdl::NameEntry::default(); 4000];
        let result = MetadataStream::parse_text(&data).and_then(|s| {
            if s.language() == Language::Json { panic!("json {dir:?}") }
            tsdl::needed(s, Workspace { nodes: &mut nodes, names: &mut names })
        });
        n += 1;
        if result.is_ok() != expect_ok {
            let gate = d["either"] != true && d["disputed"] != true;
            bad += gate as u32;
            let at = result.as_ref().err().map(|e| {
                let s = MetadataStream::parse_text(&data).map(|s| { let p = tsdl::position(s, e.offset()); format!("{}:{} {:?}", p.line, p.column, p.text.borrowed().map(|t| String::from_utf8_lossy(&t[..t.len().min(100)]).into_owned())) });
                format!("{e} {s:?}")
            });
            println!("{}/{} gate={gate} expect_ok={expect_ok} {:?} {:?} {:?}", d["set"], d["name"], d["codes"], result.is_ok(), at);
        }
    }
    println!("{n} read, {bad} bad");
}
