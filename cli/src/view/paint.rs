//! Putting text on the screen: escaped, cut to its room, and in colour only where that is welcome.

use crate::escape::printable;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

/// The role of some text, which decides its style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Plain,
    Dim,
    Title,
    ActiveTitle,
    /// The cell under the cursor.
    Cursor,
    /// The selection beside the cursor.
    Selected,
    Match,
    Name,
    Error,
    Warning,
    /// A field, by a number that its name gives.
    Field(u8),
    /// The field that the cursor is in.
    This(u8),
}

const FIELDS: [Color; 10] = [
    Color::Cyan,
    Color::Green,
    Color::Yellow,
    Color::Magenta,
    Color::Blue,
    Color::LightCyan,
    Color::LightGreen,
    Color::LightYellow,
    Color::LightMagenta,
    Color::LightBlue,
];

impl Look {
    /// The look of a field: names that differ in a number alone, such as that of a packet, have one.
    pub fn of_field(name: &str) -> Self {
        Self::Field(Self::number(name))
    }

    pub fn of_this(name: &str) -> Self {
        Self::This(Self::number(name))
    }

    fn number(name: &str) -> u8 {
        let words = name.split(' ').filter(|word| word.parse::<u64>().is_err());
        let hash = words
            .flat_map(str::bytes)
            .fold(7_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
        u8::try_from(hash % 10).unwrap_or(0)
    }

    fn style(self, color: bool) -> Style {
        let plain = Style::new();
        let tint = |tint: Color| if color { plain.fg(tint) } else { plain };
        let field = |number: u8| FIELDS.get(usize::from(number)).copied().unwrap_or(Color::Reset);
        match self {
            Self::Plain => plain,
            Self::Dim if color => plain.fg(Color::DarkGray),
            Self::Dim => plain,
            Self::Title => tint(Color::DarkGray),
            Self::ActiveTitle => tint(Color::Cyan).add_modifier(Modifier::BOLD),
            Self::Cursor => plain.add_modifier(Modifier::REVERSED),
            Self::Selected => plain.add_modifier(Modifier::BOLD),
            Self::Match if color => plain.fg(Color::Black).bg(Color::Yellow),
            Self::Match => plain.add_modifier(Modifier::UNDERLINED | Modifier::BOLD),
            Self::Name => tint(Color::Cyan),
            Self::Error => tint(Color::Red).add_modifier(Modifier::BOLD),
            Self::Warning => tint(Color::Yellow),
            Self::Field(number) => tint(field(number)),
            Self::This(number) => tint(field(number)).add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
        }
    }
}

/// A part of the screen to write to.
pub struct Paint<'b> {
    buffer: &'b mut Buffer,
    color: bool,
}

impl<'b> Paint<'b> {
    pub fn new(buffer: &'b mut Buffer, color: bool) -> Self {
        Self { buffer, color }
    }

    /// Writes text in a row of an area, from a column of that on; gives the column after it.
    pub fn put(&mut self, area: Rect, row: u16, column: u16, text: &str, look: Look) -> u16 {
        let inside = area.intersection(self.buffer.area);
        let (x, y) = (area.x.saturating_add(column), area.y.saturating_add(row));
        if row >= area.height || !inside.contains((x, y).into()) {
            return column;
        }
        let room = usize::from(inside.right().saturating_sub(x));
        // A text that is far too long is cut before anything is done to it; an escape is no longer than ten characters.
        let shown = printable(&crate::output::shortened(text, room.saturating_add(1)));
        let style = look.style(self.color);
        if unicode_width::UnicodeWidthStr::width(shown.as_str()) <= room {
            let (end, _) = self.buffer.set_stringn(x, y, shown, room, style);
            return end.saturating_sub(area.x);
        }
        // Nothing is cut without a sign.
        let (end, _) = self.buffer.set_stringn(x, y, shown, room.saturating_sub(1), style);
        let (end, _) = self.buffer.set_stringn(end, y, "…", 1, style);
        end.saturating_sub(area.x)
    }

    /// Writes text that ends at the right of an area.
    pub fn put_right(&mut self, area: Rect, row: u16, text: &str, look: Look) {
        let width = unicode_width::UnicodeWidthStr::width(printable(text).as_str());
        let width = u16::try_from(width).unwrap_or(u16::MAX);
        self.put(area, row, area.width.saturating_sub(width), text, look);
    }

    /// Gives a row of an area a look, whatever is written in it.
    pub fn mark(&mut self, area: Rect, row: u16, look: Look) {
        if row < area.height {
            let line = Rect { y: area.y.saturating_add(row), height: 1, ..area };
            let line = line.intersection(self.buffer.area);
            self.buffer.set_style(line, look.style(self.color));
        }
    }

    /// Makes an area empty.
    pub fn clear(&mut self, area: Rect) {
        for row in 0..area.height {
            let blank = " ".repeat(usize::from(area.width));
            self.put(area, row, 0, &blank, Look::Plain);
            self.mark_plain(area, row);
        }
    }

    fn mark_plain(&mut self, area: Rect, row: u16) {
        let line = Rect { y: area.y.saturating_add(row), height: 1, ..area }.intersection(self.buffer.area);
        self.buffer.set_style(line, Style::reset());
    }

    /// The line at the top of a pane.
    pub fn title(&mut self, area: Rect, title: &str, active: bool) {
        let look = if active { Look::ActiveTitle } else { Look::Title };
        let rule = if active { "═" } else { "─" };
        let line = rule.repeat(usize::from(area.width));
        self.put(area, 0, 0, &line, look);
        if area.width > 4 {
            self.put(Rect { width: area.width.saturating_sub(1), ..area }, 0, 1, &format!(" {title} "), look);
        }
    }

    /// Makes room for a box over the panes, and gives the area within.
    pub fn overlay(&mut self, area: Rect, title: &str) -> Rect {
        let margin = if area.width > 88 { 4 } else { 0 };
        let area = Rect {
            x: area.x.saturating_add(margin),
            width: area.width.saturating_sub(margin.saturating_mul(2)),
            ..area
        };
        self.clear(area);
        self.title(area, title, true);
        Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area }
    }
}
