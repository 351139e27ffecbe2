//! The packets of a metadata stream, or its fragments.

use super::Ctf2;
use super::fragment::{label, name_of};
use crate::output::{Out, bytes, counted, grouped};
use crate::status::{Result, Status};
use crate::table::{Table, left, right};
use crate::trace::Listing;
use serde_json::Map;
use traceglass::ctf::metadata::Form;

impl Ctf2<'_> {
    pub(super) fn list(&self, args: &Listing, out: &mut Out) -> Result<Status> {
        args.refuse_sha256(
            "packets and fragments are no files of their own; `traceglass cat` gives the text",
        )?;
        args.window.refuse("metadata has no time")?;
        if self.stream.form() == Form::Plain || args.ctf.fragments {
            return self.list_fragments(args, out);
        }
        let columns = [
            right("packet"),
            right("offset"),
            right("header").spare(3),
            right("content"),
            right("total").spare(2),
            right("padding").spare(1),
            left("version").spare(4),
            left("stream").spare(5),
        ];
        let mut table = Table::new(&columns);
        let mut packets = 0_u64;
        for (number, packet) in self.packets().enumerate() {
            let header = packet.header();
            if args.json {
                let mut object = Map::new();
                object.insert("kind".into(), "packet".into());
                object.insert("packet".into(), number.into());
                object.insert("offset".into(), header.offset().into());
                object.insert("header_bytes".into(), header.header_bytes().into());
                object.insert("content_bytes".into(), header.content_bytes().into());
                object.insert("total_bytes".into(), header.total_bytes().into());
                object.insert("padding_bytes".into(), header.padding_bytes().into());
                object.insert("uuid".into(), header.uuid().to_string().into());
                out.json(&object.into())?;
                continue;
            }
            packets += 1;
            table.row(
                out,
                vec![
                    number.to_string(),
                    format!("{:#x}", header.offset()),
                    header.header_bytes().to_string(),
                    grouped(header.content_bytes()),
                    grouped(header.total_bytes()),
                    grouped(header.padding_bytes()),
                    format!("{}.{}", header.major(), header.minor()),
                    header.uuid().to_string(),
                ],
            )?;
        }
        if args.json {
            return Ok(self.tell(&args.path, out));
        }
        table.finish(out)?;
        let (size, text) = (bytes(self.data.len() as u64), bytes(self.text_bytes()));
        out.wrapped("", format_args!("{}, {size}, {text} of text", counted(packets, "packet", "packets")))?;
        Ok(self.tell(&args.path, out))
    }

    /// The fragments, for `ls`.
    fn list_fragments(&self, args: &Listing, out: &mut Out) -> Result<Status> {
        let mut table = Table::new(&[
            right("fragment"),
            right("offset"),
            right("bytes").spare(1),
            left("type"),
            left("name"),
        ]);
        let mut count = 0_u64;
        for (number, fragment) in self.fragments() {
            count += 1;
            let found = fragment.check().and_then(|()| fragment.kind());
            let kind = found.as_ref().ok().map(|_| name_of(&found));
            let (name, id) = (label(&fragment, "name"), label(&fragment, "id"));
            if args.json {
                let mut object = Map::new();
                object.insert("kind".into(), "fragment".into());
                object.insert("fragment".into(), number.into());
                object.insert("offset".into(), fragment.offset().into());
                object.insert("type".into(), kind.into());
                object.insert("name".into(), name.into());
                object.insert("id".into(), id.unwrap_or_default());
                object.insert("bytes".into(), fragment.text().len().into());
                out.json(&object.into())?;
                continue;
            }
            let id = id.map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
            let name = name.as_ref().and_then(|name| name.as_str().map(str::to_owned));
            let name = match (name, id) {
                (Some(name), Some(id)) => format!("{name} ({id})"),
                (name, id) => name.or(id).unwrap_or_default(),
            };
            let kind = kind.unwrap_or_else(|| "unreadable".into());
            let offset = format!("{:#x}", fragment.offset());
            let size = grouped(fragment.text().len());
            table.row(out, vec![number.to_string(), offset, size, kind, name])?;
        }
        if !args.json {
            table.finish(out)?;
            let size = bytes(self.data.len() as u64);
            let form = if self.stream.form() == Form::Plain { "plain text" } else { "packets" };
            out.wrapped("", format_args!("{form} of {size}, {}", counted(count, "fragment", "fragments")))?;
        }
        Ok(self.tell(&args.path, out))
    }
}
