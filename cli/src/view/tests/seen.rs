//! Visible things: help, wide records, lanes, marks.

use super::*;

/// All of the help is seen on the smallest usual terminal.
#[test]
fn help_fits_80_columns_and_24_lines() {
    session(&sample("sample.rtc"), (80, 24), |session| {
        session.keys("?");
        let screen = session.draw();
        let help: Vec<_> = screen.lines().skip(1).take(22).collect();
        assert!(help.iter().any(|line| line.starts_with(" q ") && line.ends_with("quit")), "{screen}");
        assert!(!help.concat().contains('…'), "{screen}");
    });
}

/// On a smaller one, it says how much is not.
#[test]
fn help_says_what_does_not_fit() {
    session(&sample("sample.rtc"), (80, 14), |session| {
        session.keys("?");
        let screen = session.draw();
        let lines: Vec<_> = screen.lines().collect();
        // A line each at the top and the bottom, and a title.
        assert_eq!(lines[12].trim(), "… 7 more: a taller screen shows them", "{screen}");
        assert!(lines[11].starts_with(" :0x1f0"), "{screen}");
    });
}

/// The screen that is asked for with `--width` may be narrower than the terminal.
#[test]
fn a_width_that_is_asked_for_is_kept() {
    session(&sample("sample.rtc"), (110, 32), |session| {
        for (width, most) in [(Some(70), 70), (Some(200), 110), (None, 110)] {
            let (reading, open) = (Reading::default(), crate::formats::open);
            let view = crate::view::View { path: session.path, reading, color: false, width, open };
            for keys in ["i", "b", "p", "?", "x", "!"] {
                session.keys(keys);
                crate::view::paint(&view, &mut session.state, session.browse, &mut session.terminal).unwrap();
                let screen = screen(session.terminal.backend().buffer());
                let widest = screen.lines().map(|line| line.chars().count()).max();
                assert_eq!(widest, Some(most), "{keys}: {screen}");
            }
            session.keys("\x1bibp");
        }
    });
}

/// A text wider than its pane ends in a sign, and is there in full in the pane of one record.
#[test]
fn a_wide_record_is_read_in_full() {
    session(&sample("sample.rfr"), (80, 40), |session| {
        let mut wide = 0;
        for _ in 0..30 {
            session.keys("j");
            let Some(record) = session.state.record(session.browse) else { continue };
            let text = crate::escape::printable(&record.text);
            if session.state.pane != Pane::Records || text.len() < 60 || text.contains("  ") {
                continue;
            }
            wide += 1;
            assert!(session.draw().lines().any(|line| line.ends_with('…')), "{text}");
            session.keys("i");
            let screen = session.draw();
            session.keys("i");
            let joined = |text: &str| text.split_whitespace().collect::<String>();
            let pane = screen.split(" record ").nth(1).unwrap();
            assert!(joined(pane).contains(&joined(&text)), "{text}\n{screen}");
        }
        assert!(wide > 2, "{wide} wide records");
    });
}

#[test]
fn lanes_stay_and_the_window_follows() {
    session(&sample("sample.rfr"), (110, 40), |session| {
        let names = |session: &Session<'_>| -> Vec<String> {
            session.state.lanes.lanes.iter().map(|lane| lane.name.clone()).collect()
        };
        let all = names(session);
        assert!(all.len() > 2);
        session.keys("jjj");
        let near = session.state.lanes_at.unwrap();
        session.keys("wwwwwww");
        assert_eq!(names(session), all);
        let (from, to) = session.state.shown_window();
        assert!((from..to).contains(&near));
        session.keys(":+1.5s\n");
        session.draw();
        let far = session.state.lanes_at.unwrap();
        let (low, high) = session.state.shown_window();
        assert!((low..high).contains(&far) && !(low..high).contains(&near));
        assert_eq!(high - low, to - from);
        // All of it again.
        session.keys("sssssssssss");
        assert_eq!(session.state.window, None);
        let (mut again, mut all) = (names(session), all);
        again.sort();
        all.sort();
        assert_eq!(again, all);
    });
}

#[test]
fn the_time_between_two_marks_is_told() {
    session(&sample("sample.rtc"), (110, 40), |session| {
        session.keys("jm");
        let first = session.state.lanes_at.unwrap();
        session.keys("jjjjjj");
        let second = session.state.lanes_at.unwrap();
        assert!(second > first);
        let told = crate::view::when::duration(second - first);
        assert!(session.draw().contains(&format!("since mark 1: +{told}")));
        session.keys("m");
        session.keys("G");
        assert!(session.draw().contains(&format!("mark 1 to 2: +{told}")));
        session.keys("m");
        assert!(!session.draw().contains("mark 1"));
    });
}
