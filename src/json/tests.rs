use super::*;
use crate::error::{Element, Error, ErrorKind};
use std::format;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

const TEXT: Element = Element::new(&"text");

/// Text in pieces of one byte, with a gap of 9 bytes after each: the worst possible source.
#[derive(Clone, Copy, Debug)]
struct Crumbs<'a>(&'a [u8], u64);

impl<'a> Source<'a> for Crumbs<'a> {
    fn front(&self) -> &'a [u8] {
        &self.0[..self.0.len().min(1)]
    }
    fn offset(&self) -> u64 {
        self.1
    }
    fn advance(&mut self, n: usize) {
        let n = n.min(self.0.len()).min(1);
        self.0 = &self.0[n..];
        self.1 += 10 * n as u64;
    }
    fn limited(self, len: u64) -> Self {
        Self(&self.0[..len as usize], self.1)
    }
    fn together(self) -> Option<&'a [u8]> {
        (self.0.len() <= 1).then_some(self.0)
    }
}

fn parser(text: &str) -> Parser<Bytes<'_>> {
    Parser::new(Bytes::at(text.as_bytes(), 100), TEXT)
}

/// All events in short, and the error that ends them.
fn events<'a, S: Source<'a>>(source: S) -> (Vec<String>, Option<Error>) {
    let mut parser = Parser::new(source, TEXT);
    let mut all = Vec::new();
    loop {
        let event = match parser.next_event() {
            Ok(Some(event)) => event,
            Ok(None) => return (all, parser.finish().err()),
            Err(error) => {
                assert!(matches!(parser.next_event(), Ok(None)), "goes on after an error");
                assert!(parser.value_text().unwrap().is_none());
                assert_eq!(parser.rest().offset(), error.offset());
                return (all, Some(error));
            }
        };
        all.push(match event {
            Event::ObjectStart => "{".into(),
            Event::ObjectEnd => "}".into(),
            Event::ArrayStart => "[".into(),
            Event::ArrayEnd => "]".into(),
            Event::Key(name) => name.chars().collect::<String>() + ":",
            Event::String(text) => format!("{:?}", text.chars().collect::<String>()),
            Event::Number(number) => match number.as_i128() {
                Some(value) => value.to_string(),
                None => format!("{:?}", text_of(number.text()).parse::<f64>().unwrap()),
            },
            Event::Bool(value) => value.to_string(),
            Event::Null => "null".into(),
        });
    }
}

/// The rest of a source.
fn text_of<'a>(mut source: impl Source<'a>) -> String {
    std::iter::from_fn(|| take_byte(&mut source)).map(char::from).collect()
}

/// The same from one piece and from crumbs.
fn both(text: &[u8]) -> (Vec<String>, Option<Error>) {
    let (all, error) = events(Bytes::new(text));
    let (crumbled, crumbled_error) = events(Crumbs(text, 0));
    assert_eq!(all, crumbled);
    let scaled = error.map(|error| Error::new(error.offset() * 10, error.element(), error.kind()));
    assert_eq!(scaled, crumbled_error);
    (all, error)
}

fn one_string(text: &str) -> Str<Bytes<'_>> {
    match parser(text).next_event().unwrap().unwrap() {
        Event::String(string) => string,
        other => panic!("{other:?}"),
    }
}

fn one_number(text: &str) -> Number<Bytes<'_>> {
    match parser(text).next_event().unwrap().unwrap() {
        Event::Number(number) => number,
        other => panic!("{other:?}"),
    }
}

#[test]
fn events_of_everything() {
    let text =
        "\t{ \"a\\u0062\" : [1, -0, 2.5e3 ,\"\u{e9}\\n\", {}, []], \"\":true,\"n\":null , \"f\":false}\r\n ";
    let (all, error) = both(text.as_bytes());
    assert_eq!(error, None);
    let expected =
        "{ ab: [ 1 0 2500.0 \"é\\n\" { } [ ] ] : true n: null f: false }".split(' ').collect::<Vec<_>>();
    assert_eq!(all, expected);
    for scalar in ["0", "-1", "\"\"", "true", "null", " 12 "] {
        assert_eq!(both(scalar.as_bytes()).1, None, "{scalar}");
    }
}

#[test]
fn every_prefix_ends_where_the_text_does() {
    let text = r#"{"a":[1,-2.5e+7,"x\u00e9\\"],"b":{"c":null,"d":true},"e":false}"#;
    assert_eq!(both(text.as_bytes()).1, None);
    for len in 0..text.len() {
        let error = both(&text.as_bytes()[..len]).1.expect("an error");
        assert_eq!((error.offset(), error.kind()), (len as u64, ErrorKind::UnexpectedEnd { needed: 1 }));
    }
}

#[test]
fn faults_are_located_and_named() {
    for (text, offset, byte, expected) in [
        ("{,}", 1, b',', "a member's name or '}'"),
        ("{\"a\":1,}", 7, b'}', "a member's name"),
        ("{\"a\" 1}", 5, b'1', "':'"),
        ("{\"a\":1]", 6, b']', "',' or '}'"),
        ("{a:1}", 1, b'a', "a member's name or '}'"),
        ("[,1]", 1, b',', "a value or ']'"),
        ("[1,]", 3, b']', "a value"),
        ("[1 2]", 3, b'2', "',' or ']'"),
        ("[1}", 2, b'}', "',' or ']'"),
        ("[01]", 2, b'1', "no digit after a leading zero"),
        ("[-]", 2, b']', "a digit"),
        ("[1.]", 3, b']', "a digit"),
        ("[1e+]", 4, b']', "a digit"),
        ("[+1]", 1, b'+', "a value or ']'"),
        ("[.5]", 1, b'.', "a value or ']'"),
        ("[NaN]", 1, b'N', "a value or ']'"),
        ("tru3", 3, b'3', "'true', 'false' or 'null'"),
        ("\"a\nb\"", 2, b'\n', "an escape instead of a control character"),
        ("\"\\x\"", 2, b'x', "a character that can be escaped"),
        ("\"\\u12g4\"", 5, b'g', "four hexadecimal digits"),
        ("{} {}", 3, b'{', "the end of the text"),
        ("\u{feff}{}", 0, 0xef, "a value"),
        ("{\"a\":}", 5, b'}', "a value"),
    ] {
        let error = both(text.as_bytes()).1.expect(text);
        assert_eq!(error, Error::new(offset, TEXT, ErrorKind::Unexpected { byte, expected }), "{text}");
    }
}

#[test]
fn depth_is_bounded() {
    let most = Parser::<Bytes<'_>>::DEPTH as usize;
    let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
    assert_eq!(events(Bytes::new(nested(most).as_bytes())).1, None);
    let error = events(Bytes::new(nested(most + 1).as_bytes())).1.unwrap();
    assert_eq!(error, Error::new(most as u64, TEXT, ErrorKind::TooDeep { limit: 256 }));
    // Each level remembers which container is open.
    let mixed = "[{\"k\":".repeat(most / 2) + "1" + &"}]".repeat(most / 2);
    assert_eq!(events(Bytes::new(mixed.as_bytes())).1, None);
    let wrong = mixed.replacen("}]}", "}]]", 1);
    assert!(events(Bytes::new(wrong.as_bytes())).1.is_some());
}

#[test]
fn strings_are_borrowed_compared_and_decoded() {
    let plain = one_string("\"monotonic\" ");
    assert_eq!((plain.borrowed(), plain.offset()), (Some("monotonic"), 101));
    assert!(plain.is("monotonic") && !plain.is("monotoni") && !plain.is("monotonic2") && !plain.is(""));

    let escaped = one_string(r#""\ud83d\ude00 \"\\\/\b\f\n\r\t\u00e9 \u0000 é😀""#);
    let text = "😀 \"\\/\u{8}\u{c}\n\r\té \0 é😀";
    assert_eq!(escaped.borrowed(), None);
    assert!(escaped.is(text));
    let mut buffer = [0; 64];
    assert_eq!(escaped.decode(&mut buffer).unwrap(), text);
    for capacity in 0..text.len() {
        let mut buffer = vec![0; capacity];
        let kind = ErrorKind::CapacityExceeded { capacity: capacity as u64, needed: text.len() as u64 };
        assert_eq!(escaped.decode(&mut buffer), Err(Error::new(101, TEXT, kind)));
    }
    assert_eq!(escaped.decode(&mut vec![0; text.len()]).unwrap(), text);
    assert_eq!(one_string("\"\"").decode(&mut []).unwrap(), "");
}

#[test]
fn lone_surrogates_become_replacements() {
    for (text, decoded) in [
        (r#""\ud83d""#, "\u{fffd}"),
        (r#""\ude00a""#, "\u{fffd}a"),
        (r#""\ud83dx""#, "\u{fffd}x"),
        (r#""\ud83d\n""#, "\u{fffd}\n"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
        (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
        (r#""\udc00\udc00""#, "\u{fffd}\u{fffd}"),
        (r#""\udbff\udfff""#, "\u{10ffff}"),
    ] {
        let string = one_string(text);
        assert_eq!(string.chars().collect::<String>(), decoded, "{text}");
        assert_eq!(string.decode(&mut [0; 16]).unwrap(), decoded);
        // The string holds no such text.
        assert_eq!(string.is(decoded), !decoded.contains('\u{fffd}'));
    }
}

/// Every first byte with the high bit set, before three bytes at the limits of UTF-8, against the standard library.
#[test]
fn utf8_is_judged_as_by_the_standard_library() {
    let tails = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
    for lead in 0x80..=0xff {
        for b in tails {
            for c in tails {
                for d in tails {
                    let bytes = [lead, b, c, d];
                    let string = Str::new(Bytes::at(&bytes, 5), false, TEXT);
                    let expected = String::from_utf8_lossy(&bytes);
                    assert_eq!(string.chars().collect::<String>(), expected, "{bytes:x?}");
                    let fault = core::str::from_utf8(&bytes).map_err(|e| 5 + e.valid_up_to() as u64);
                    let checked = string.check_utf8().map_err(|e| e.offset());
                    assert_eq!(checked.err(), fault.err(), "{bytes:x?}");
                    assert_eq!(string.borrowed().is_some(), fault.is_ok());
                    assert_eq!(string.decode(&mut [0; 16]).is_ok(), fault.is_ok());
                }
            }
        }
    }
}

#[test]
fn numbers_are_exact_or_not_given() {
    let integer = |text| one_number(text).as_i128();
    assert_eq!(integer("18446744073709551616"), Some(1 << 64));
    assert_eq!(integer("-170141183460469231731687303715884105728"), Some(i128::MIN));
    assert_eq!(integer("170141183460469231731687303715884105728"), None);
    assert_eq!((integer("1.0"), integer("1e2")), (None, None));
    assert_eq!(one_number("18446744073709551615").as_u64(), Some(u64::MAX));
    assert_eq!(one_number("-1").as_u64(), None);
    assert_eq!(one_number("-9223372036854775808").as_i64(), Some(i64::MIN));
    assert_eq!(one_number("-7 ").text().as_slice(), b"-7");
    let long = "1".repeat(65);
    let Some(Event::Number(number)) = Parser::new(Crumbs(long.as_bytes(), 0), TEXT).next_event().unwrap()
    else {
        panic!()
    };
    assert_eq!((number.as_i128(), text_of(number.text())), (None, long));
}

#[test]
fn values_are_skipped_as_text() {
    let mut parser = parser(r#" [ {"a":[1,{}]} , 2,"x" ,[ ] ] tail"#);
    assert!(matches!(parser.next_event(), Ok(Some(Event::ArrayStart))));
    assert_eq!(parser.value_text().unwrap().unwrap().as_slice(), br#"{"a":[1,{}]}"#);
    assert_eq!(parser.value_text().unwrap().unwrap().as_slice(), b"2");
    assert!(matches!(parser.next_event(), Ok(Some(Event::String(_)))));
    assert_eq!(parser.event_offset(), 120);
    assert_eq!(parser.value_text().unwrap().unwrap().as_slice(), b"[ ]");
    assert!(parser.value_text().unwrap().is_none());
    assert!(matches!(parser.next_event(), Ok(Some(Event::ArrayEnd))));
    assert!(parser.value_text().unwrap().is_none());
    assert!(matches!(parser.next_event(), Ok(None)));
    assert_eq!(parser.rest().as_slice(), b" tail");
    assert_eq!(parser.finish().unwrap_err().offset(), 131);
}

/// A value that is skipped at once leaves the parser as its events do.
#[test]
fn long_values_are_skipped_as_all_are() {
    let deep = "[".repeat(60) + &"]".repeat(60);
    let values = [
        "17",
        "0",
        "-0.5e1",
        "05",
        "-00",
        "01e5",
        "\"a\"",
        "true",
        "null",
        "{}",
        "[ ]",
        r#"{"a": ["b", "c"]}"#,
        &deep,
        "[1,]",
        "tru",
        "-",
        "\"",
        "{\"a\"}",
    ];
    for value in values {
        for depth in [1, 100, 193, 194, 195, 196, 197, 255] {
            for after in [" ,2", "", "]", "}"] {
                let text = "[".repeat(depth) + value + after;
                let mut one = parser(&text);
                for _ in 0..depth {
                    one.next_event().unwrap();
                }
                let mut other = one;
                for _ in 0..3 {
                    let (skipped, expected) = (other.long_value_text(), one.value_text());
                    assert_eq!(format!("{skipped:?}"), format!("{expected:?}"), "{text}");
                    assert_eq!(format!("{other:?}"), format!("{one:?}"), "{text}");
                }
            }
        }
    }
}

#[test]
fn an_empty_array_has_no_value_to_skip() {
    let mut parser = parser("[]");
    parser.next_event().unwrap();
    assert!(parser.value_text().unwrap().is_none());
    assert!(matches!(parser.next_event(), Ok(Some(Event::ArrayEnd))));
}

/// A caller's way through damaged metadata: the next parser begins at the next object.
#[test]
fn reading_resumes_where_the_caller_says() {
    let text = br#"[{"id":9},{"id":1#{"x",{"id":11}[{"id":12},13]"#;
    let mut rest = Bytes::new(text);
    let mut ids = Vec::new();
    while let Some(at) = rest.as_slice().iter().position(|&byte| byte == b'{') {
        rest.advance(at);
        let mut parser = Parser::new(rest, TEXT);
        let mut id = None;
        loop {
            match parser.next_event() {
                Ok(Some(Event::Number(number))) => id = number.as_u64(),
                Ok(Some(_)) => {}
                Ok(None) => {
                    ids.extend(id);
                    break;
                }
                Err(_) => break,
            }
        }
        rest = parser.rest();
    }
    assert_eq!(ids, [9, 11, 12]);
}

/// True if the text is accepted, in one piece and in pieces of one byte.
fn accepted(text: &[u8]) -> bool {
    let whole = accepts_object(Bytes::new(text));
    assert_eq!(accepts_object(Crumbs(text, 0)), whole, "{}", text.escape_ascii());
    whole
}

#[test]
fn acceptance_is_the_parsers() {
    for (depth, is_accepted) in [(61, true), (62, false), (255, false)] {
        let text = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(accepted(text.as_bytes()), is_accepted);
        assert_eq!(events(Bytes::new(text.as_bytes())).1, None);
    }
    // A token is joined with what follows.
    for (len, is_accepted) in [(123, true), (125, true), (126, false)] {
        let text = format!("{{\"{}\":1}}", "a".repeat(len));
        assert!(accepts_object(Bytes::new(text.as_bytes())));
        assert_eq!(accepts_object(Crumbs(text.as_bytes(), 0)), is_accepted, "{len}");
    }
    let text = r#" {"a":[17,-2.5e+7,0,"x\u00e9\\\n", "", "y",{}], "b": "c", "d": {"e":null,"f" :true,"g":"é"},
                  "h":false} "#;
    assert!(accepted(text.as_bytes()));
    for len in 0..text.len() - 1 {
        assert!(!accepted(&text.as_bytes()[..len]));
    }
    for place in 0..text.len() {
        for byte in 0..=255 {
            let mut mutant = text.as_bytes().to_vec();
            mutant[place] = byte;
            let valid = events(Bytes::new(&mutant)).1.is_none() && core::str::from_utf8(&mutant).is_ok();
            assert_eq!(accepted(&mutant), valid, "{}", mutant.escape_ascii());
        }
    }
    for text in ["", " ", "[]", "1", "{} {}", "{}}", "{}]", "{\"a\": [\"b\", \"c\": 1]}", "{\"a\": \"b\": 1}"]
    {
        assert!(!accepted(text.as_bytes()), "{text}");
    }
}

/// No text of four symbols makes it panic or loop, and it agrees with another parser on what is valid.
#[test]
fn short_texts_agree_with_serde() {
    let symbols: [&[u8]; 14] =
        [b"{", b"}", b"[", b"]", b",", b":", b"\"a\"", b"1", b"-", b"0", b".5", b"e1", b"true", b" "];
    let mut texts: Vec<Vec<u8>> = vec![vec![]];
    for len in 0..=4 {
        for text in &texts {
            let (_, error) = events(Bytes::new(text));
            let valid = serde_json::from_slice::<serde_json::Value>(text).is_ok();
            assert_eq!(error.is_none(), valid, "{}", text.escape_ascii());
            let object = valid && text.trim_ascii_start().starts_with(b"{");
            assert_eq!(accepted(text), object, "{}", text.escape_ascii());
            // The same one level down, as the value of a member.
            let member = [b"{\"k\":", &text[..], b"}"].concat();
            assert_eq!(accepted(&member), events(Bytes::new(&member)).1.is_none(), "{}", text.escape_ascii());
        }
        if len < 4 {
            texts = texts.iter().flat_map(|text| symbols.map(|symbol| [text, symbol].concat())).collect();
        }
    }
}

/// Numbers that fit into 64 bits are read alike by both widths.
#[test]
fn numbers_of_64_bits_are_those_of_128() {
    for text in [
        "0",
        "-0",
        "1",
        "-1",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999",
        "-18446744073709551616",
        "170141183460469231731687303715884105728",
        "1.0",
        "1e1",
        "-1.5",
    ] {
        let number = one_number(text);
        let wide = number.as_i128();
        assert_eq!(number.as_u64(), wide.and_then(|value| value.try_into().ok()), "{text}");
        assert_eq!(number.as_i64(), wide.and_then(|value| value.try_into().ok()), "{text}");
    }
}
