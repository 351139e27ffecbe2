//! Fragments beside a plain reading of JSON, byte by byte: random text, damaged text, in packets of any size.

use crate::common::ctf::{Packet, stream};
use crate::numbers::Random;
use traceglass::ErrorKind;
use traceglass::ctf::metadata::{Fragment, FragmentKind, MetadataStream};

/// A position in the text, and what is wrong there.
type Outcome<T = ()> = Result<T, (usize, ErrorKind)>;

struct Plain<'t> {
    text: &'t [u8],
    at: usize,
    depth: u32,
    /// The value of the first `type` of the outermost object, if that is a string.
    kind: Option<&'t [u8]>,
}

impl<'t> Plain<'t> {
    fn object(text: &'t [u8]) -> (Outcome, Option<&'t [u8]>) {
        let mut plain = Self { text, at: 0, depth: 0, kind: None };
        let outcome = plain.whole();
        (outcome, plain.kind)
    }

    fn whole(&mut self) -> Outcome {
        self.space();
        let start = self.at;
        match self.peek() {
            Some(b'{') => self.value("a value")?,
            Some(byte) => {
                // An array is refused at its bracket, whatever is in it; of a string, only the end is looked for.
                match byte {
                    b'[' => {}
                    b'"' => drop(self.string()?),
                    _ => self.value("a value")?,
                }
                return Err((start, ErrorKind::Unexpected { byte, expected: "an object" }));
            }
            None => return self.fault("a value"),
        }
        self.space();
        if self.peek().is_some() { self.fault("the end of the text") } else { Ok(()) }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn fault<T>(&self, expected: &'static str) -> Outcome<T> {
        Err((
            self.at,
            match self.peek() {
                Some(byte) => ErrorKind::Unexpected { byte, expected },
                None => ErrorKind::UnexpectedEnd { needed: 1 },
            },
        ))
    }

    fn take(&mut self, allowed: impl Fn(u8) -> bool) -> bool {
        let taken = self.peek().is_some_and(allowed);
        self.at += usize::from(taken);
        taken
    }

    fn space(&mut self) {
        while self.take(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')) {}
    }

    fn open(&mut self) -> Outcome {
        if self.depth == 256 {
            return Err((self.at, ErrorKind::TooDeep { limit: 256 }));
        }
        self.depth += 1;
        self.at += 1;
        self.space();
        Ok(())
    }

    fn close(&mut self, end: u8) -> bool {
        let closes = self.take(|byte| byte == end);
        self.depth -= u32::from(closes);
        closes
    }

    fn value(&mut self, expected: &'static str) -> Outcome {
        match self.peek() {
            Some(b'{') => {
                self.open()?;
                let mut expected = "a member's name or '}'";
                while expected == "a member's name" || !self.close(b'}') {
                    if self.peek() != Some(b'"') {
                        return self.fault(expected);
                    }
                    let name = self.string()?;
                    self.space();
                    if !self.take(|byte| byte == b':') {
                        return self.fault("':'");
                    }
                    self.utf8(name)?;
                    self.space();
                    let start = self.at;
                    self.value("a value")?;
                    let is_type = self.depth == 1 && &self.text[name.0..name.1] == b"type";
                    if is_type && self.kind.is_none() && self.text[start] == b'"' {
                        self.kind = Some(&self.text[start + 1..self.at - 1]);
                    } else if is_type && self.kind.is_none() {
                        self.kind = Some(b"");
                    }
                    self.space();
                    if self.close(b'}') {
                        break;
                    }
                    if !self.take(|byte| byte == b',') {
                        return self.fault("',' or '}'");
                    }
                    self.space();
                    expected = "a member's name";
                }
                Ok(())
            }
            Some(b'[') => {
                self.open()?;
                let mut expected = "a value or ']'";
                while expected == "a value" || !self.close(b']') {
                    self.value(expected)?;
                    self.space();
                    if self.close(b']') {
                        break;
                    }
                    if !self.take(|byte| byte == b',') {
                        return self.fault("',' or ']'");
                    }
                    self.space();
                    expected = "a value";
                }
                Ok(())
            }
            Some(b'"') => {
                let string = self.string()?;
                self.utf8(string)
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            _ => self.fault(expected),
        }
    }

    fn word(&mut self, word: &[u8]) -> Outcome {
        for wanted in word {
            if !self.take(|byte| byte == *wanted) {
                return self.fault("'true', 'false' or 'null'");
            }
        }
        Ok(())
    }

    /// From where to where it is, without its quotes.
    fn string(&mut self) -> Outcome<(usize, usize)> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok((start, self.at - 1));
                }
                Some(b'\\') => {
                    self.at += 1;
                    if self.take(|byte| byte == b'u') {
                        for _ in 0..4 {
                            if !self.take(|byte| byte.is_ascii_hexdigit()) {
                                return self.fault("four hexadecimal digits");
                            }
                        }
                    } else if !self.take(|byte| b"\"\\/bfnrt".contains(&byte)) {
                        return self.fault("a character that can be escaped");
                    }
                }
                Some(0x20..) => self.at += 1,
                Some(_) => return self.fault("an escape instead of a control character"),
                None => return self.fault("'\"'"),
            }
        }
    }

    fn utf8(&self, (start, end): (usize, usize)) -> Outcome {
        std::str::from_utf8(&self.text[start..end])
            .map(drop)
            .map_err(|error| (start + error.valid_up_to(), ErrorKind::NotUtf8))
    }

    fn digits(&mut self) -> Outcome {
        if !self.take(|byte| byte.is_ascii_digit()) {
            return self.fault("a digit");
        }
        while self.take(|byte| byte.is_ascii_digit()) {}
        Ok(())
    }

    fn number(&mut self) -> Outcome {
        self.take(|byte| byte == b'-');
        if !self.take(|byte| byte == b'0') {
            self.digits()?;
        } else if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return self.fault("no digit after a leading zero");
        }
        if self.take(|byte| byte == b'.') {
            self.digits()?;
        }
        if self.take(|byte| matches!(byte, b'e' | b'E')) {
            self.take(|byte| matches!(byte, b'+' | b'-'));
            self.digits()?;
        }
        Ok(())
    }
}

/// A number below `n`.
fn below(random: &mut Random, n: usize) -> usize {
    (random.next() >> 11) as usize % n
}

fn pick<'t>(random: &mut Random, from: &[&'t [u8]]) -> &'t [u8] {
    from[below(random, from.len())]
}

fn space(random: &mut Random, text: &mut Vec<u8>) {
    text.extend(pick(
        random,
        &[b"", b"", b"", b" ", b" ", b"\n    ", b"\n                  ", b"\r\n\t\t", b"  "],
    ));
}

fn string(random: &mut Random, text: &mut Vec<u8>) {
    const PARTS: [&[u8]; 14] = [
        b"",
        b"a",
        b"type",
        b"preamble",
        b"event-record-class",
        b"fixed-length-unsigned-integer",
        b"long enough that it goes on in several packets, wherever it begins, with a few words more than a buffer has",
        b"\\n",
        b"\\\"",
        b"\\\\",
        b"\\u00e9\\ud83d\\ude00",
        "é".as_bytes(),
        "…😀".as_bytes(),
        b" ~\x7f",
    ];
    text.push(b'"');
    for _ in 0..below(random, 3) {
        text.extend(pick(random, &PARTS));
    }
    text.push(b'"');
}

fn value(random: &mut Random, text: &mut Vec<u8>, depth: usize) {
    match below(random, if depth == 0 { 6 } else { 9 }) {
        0..=2 => string(random, text),
        3 => {
            text.extend(pick(random, &[b"0", b"17", b"-0", b"1.5e-3", b"-20.25E+7", b"18446744073709551616"]))
        }
        4 => text.extend(pick(random, &[b"true", b"false", b"null"])),
        5 => text.extend(pick(random, &[b"{}", b"[]", b"{ }", b"[\n]"])),
        6 => {
            text.push(b'[');
            for n in 0..below(random, 5) {
                if n > 0 {
                    text.push(b',');
                }
                space(random, text);
                value(random, text, depth - 1);
                space(random, text);
            }
            text.push(b']');
        }
        _ => object(random, text, depth - 1),
    }
}

fn object(random: &mut Random, text: &mut Vec<u8>, depth: usize) {
    text.push(b'{');
    space(random, text);
    for n in 0..below(random, 5) {
        if n > 0 {
            text.push(b',');
            space(random, text);
        }
        if below(random, 4) == 0 {
            text.extend(b"\"type\"")
        } else {
            string(random, text)
        }
        text.extend(pick(random, &[b":", b": ", b": ", b" :\n  "]));
        value(random, text, depth);
        space(random, text);
    }
    text.push(b'}');
}

/// Changes, removes, inserts or doubles some bytes.
fn damage(random: &mut Random, text: &mut Vec<u8>) {
    const BYTES: &[u8] = b"{}[],:\"\"\\ \n09.-eEtfnu\0\x1f\x20\x7f\x80\xa9\xc3\xed\xf0\xff";
    let at = below(random, text.len());
    let byte = BYTES[below(random, BYTES.len())];
    match below(random, 5) {
        0 => text[at] = byte,
        1 => text.insert(at, byte),
        2 => drop(text.remove(at)),
        3 => text.truncate(at.max(1)),
        _ => {
            let to = (at + below(random, 9)).min(text.len());
            let part = text[at..to].to_vec();
            text.splice(at..at, part);
        }
    }
}

/// Compares what a fragment says with what its bytes do.
fn compare(fragment: &Fragment<'_>) -> bool {
    let mut bytes = Vec::new();
    let mut offsets = Vec::new();
    let mut pieces = fragment.text().pieces();
    loop {
        let offset = pieces.offset();
        let Some(piece) = pieces.next() else {
            offsets.push(offset);
            break;
        };
        bytes.extend(piece);
        offsets.extend(offset..offset + piece.len() as u64);
    }
    let (expected, kind) = Plain::object(&bytes);
    let found = fragment.check().map_err(|error| (error.offset(), error.kind()));
    let at = |(position, kind): (usize, ErrorKind)| (offsets[position], kind);
    assert_eq!(found, expected.map_err(at), "{}", bytes.escape_ascii());

    // The type is read up to where it is; that this is not too far is what the names of members say.
    let member = fragment.member("type");
    let name = match fragment.kind() {
        Ok(FragmentKind::Untyped) => None,
        Ok(FragmentKind::Other(name)) => Some(name.to_string()),
        Ok(kind) => kind.name().map(String::from),
        Err(error) => {
            assert_eq!(member.map(|_| ()), Err(error), "{}", bytes.escape_ascii());
            assert!(expected.is_err());
            return false;
        }
    };
    let value = member.expect("a kind without an error");
    let text = value.map(|text| text.pieces().flatten().copied().collect::<Vec<u8>>());
    let decoded = text.as_deref().and_then(|text| serde_json::from_slice::<serde_json::Value>(text).ok());
    match (&name, &decoded) {
        (Some(name), Some(serde_json::Value::String(decoded))) => assert_eq!(name, decoded),
        // Not UTF-8, or half a surrogate pair, which that parser refuses.
        (Some(_), None) => {}
        (name, _) => assert_eq!(*name, None, "{}", bytes.escape_ascii()),
    }
    if let (Ok(()), Some(kind)) = (expected, kind)
        && kind.is_ascii()
        && !kind.contains(&b'\\')
        && !kind.is_empty()
    {
        assert_eq!(name.unwrap().as_bytes(), kind);
    }
    expected.is_ok()
}

#[test]
fn checks_agree_with_a_plain_reading() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut valid, mut invalid) = (0, 0);
    for round in 0..6000 {
        let mut text = vec![0x1e];
        object(&mut random, &mut text, 4);
        space(&mut random, &mut text);
        for _ in 0..round % 3 {
            let mut body = text.split_off(1);
            damage(&mut random, &mut body);
            text.extend(body);
        }
        let size = [1, 2, 3, 7, 30, 100, 500][below(&mut random, 7)];
        let packets = stream(text.chunks(size), Packet::v2);
        for form in [text, packets] {
            for fragment in MetadataStream::parse(&form).unwrap().fragments() {
                *if compare(&fragment.unwrap()) { &mut valid } else { &mut invalid } += 1;
            }
        }
    }
    assert!(valid > 4000 && invalid > 4000, "{valid} valid, {invalid} invalid");
}

#[test]
fn nesting_and_lengths_have_no_other_limits() {
    for depth in [1, 62, 63, 64, 65, 127, 128, 254, 255, 256, 257] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
            let times = depth / (open.len() - open.len() / 6 * 4).clamp(1, 2);
            let text = format!("\x1e{{\"a\":{}1{}}}", open.repeat(times), close.repeat(times));
            for size in [1, 50, 4000] {
                let packets = stream(text.as_bytes().chunks(size), Packet::v1);
                for form in [text.as_bytes(), &packets] {
                    compare(&MetadataStream::parse(form).unwrap().fragments().next().unwrap().unwrap());
                }
            }
        }
    }
    for len in 0..300 {
        let text = format!("\x1e{{\"{}\":{}}}", "k".repeat(len), "1".repeat(len + 1));
        let packets = stream(text.as_bytes().chunks(64), Packet::v2);
        for form in [text.as_bytes(), &packets] {
            assert!(compare(&MetadataStream::parse(form).unwrap().fragments().next().unwrap().unwrap()));
        }
    }
}
