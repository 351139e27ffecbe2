//! Screens with their colours.

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

/// A screen with its colours, as a terminal is told them.
pub fn styled(buffer: &Buffer) -> String {
    let mut text = String::new();
    for row in 0..buffer.area.height {
        let mut last = String::from("\x1b[0m");
        for column in 0..buffer.area.width {
            let cell = &buffer[(column, row)];
            let mut codes = String::from("0");
            for (modifier, code) in [(Modifier::BOLD, 1), (Modifier::UNDERLINED, 4), (Modifier::REVERSED, 7)]
            {
                if cell.modifier.contains(modifier) {
                    codes.push_str(&format!(";{code}"));
                }
            }
            for (color, code) in [
                (Color::Red, 31),
                (Color::Green, 32),
                (Color::Yellow, 33),
                (Color::Blue, 34),
                (Color::Magenta, 35),
                (Color::Cyan, 36),
                (Color::DarkGray, 90),
                (Color::LightGreen, 92),
                (Color::LightYellow, 93),
                (Color::LightBlue, 94),
                (Color::LightMagenta, 95),
                (Color::LightCyan, 96),
            ] {
                if cell.fg == color {
                    codes.push_str(&format!(";{code}"));
                }
            }
            let code = format!("\x1b[{codes}m");
            if code != last {
                text.push_str(&code);
                last = code;
            }
            text.push_str(cell.symbol());
        }
        text.push_str("\x1b[0m\n");
    }
    text
}
