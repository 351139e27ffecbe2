// Files and folders that are chosen or dropped, with paths that begin with the folder's name.

const FILES_MAX = 20_000;

export function chosen(list) {
  return [...list].map((file) => ({ path: clean(file.webkitRelativePath || file.name), file }));
}

export async function dropped(items) {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile()).filter(Boolean);
  const found = [];
  // Folders wait in a list: how deep they lie does not matter.
  const todo = entries.map((entry) => [entry, ""]);
  while (todo.length && found.length < FILES_MAX) {
    const [entry, front] = todo.shift();
    if (entry instanceof File) found.push({ path: clean(entry.name), file: entry });
    else if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      found.push({ path: clean(front + entry.name), file });
    } else {
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (!some.length) break;
        todo.push(...some.map((inner) => [inner, `${front}${entry.name}/`]));
      }
    }
  }
  return found;
}

// A path that is relative, and is neither an option nor several arguments.
const clean = (path) => path.split("/").filter((name) => name && name !== "." && name !== "..").join("/").replaceAll("\0", "").replace(/^-/, "_") || "trace";

// Where a trace may be: the folder of all files, then each file of its own.
export function roots(files) {
  const [first] = files[0].path.split("/");
  const paths = files.map(({ path }) => path).sort();
  if (files.length === 1 && !paths[0].includes("/")) return paths;
  const shared = paths.every((path) => path.startsWith(first + "/"));
  return shared ? [first, ...paths] : paths;
}
