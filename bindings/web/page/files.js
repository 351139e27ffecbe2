// Files and folders that are chosen or dropped, with paths that begin with the folder's name.

const FILES_MAX = 20_000;

export function chosen(list) {
  return [...list].map((file) => ({ path: clean(file.webkitRelativePath || file.name), file }));
}

// What is dropped, and what is to be said of it.
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
  return { files: found, notes: todo.length ? [`more than ${FILES_MAX} files were dropped: these are the first ones`] : [] };
}

// A path that is relative, and is neither an option nor several arguments.
const clean = (path) => path.split("/").filter((name) => name && name !== "." && name !== "..").join("/").replaceAll("\0", "").replace(/^-/, "_") || "trace";

// Where a trace may be: each folder that files lie in, those around it first, then each file of its own.
export function roots(files) {
  const paths = files.map(({ path }) => path).sort(), folders = new Set();
  for (const path of paths) {
    // Those around a folder that is known are known as well.
    for (let at = path.lastIndexOf("/"); at > 0 && !folders.has(path.slice(0, at)); at = path.lastIndexOf("/", at - 1)) folders.add(path.slice(0, at));
  }
  return [...[...folders].sort(), ...paths];
}

// The path of what a packed file has in it; its own, if there is such a file beside it.
export function unpackedPath(path, paths) {
  const shorter = path.replace(/\.gz$/, "");
  return paths.has(shorter) ? path : shorter;
}
