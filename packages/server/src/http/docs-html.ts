// Builds HTML from text: whatever is put into a template is escaped, unless it is HTML that was built here.

export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | readonly Html[];

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => entities[char] ?? "");
}

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((string, index) => string + toText(parts[index] ?? "")).join(""));
}

function toText(part: Part): string {
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(({ text }) => text).join("");
  return escapeHtml(String(part));
}

export const nothing = new Html("");

/** The little Markdown that descriptions use: paragraphs, lists and `code`. */
export function prose(text: string): Html {
  return new Html(text.split(/\n\n/).map(block).join(""));
}

function block(text: string): string {
  const lines = text.split("\n");
  const items = lines.filter((line) => line.startsWith("- "));
  const plain = lines.filter((line) => !line.startsWith("- ")).join(" ");
  const list = items.map((item) => `<li>${inline(item.slice(2)).text}</li>`).join("");
  return (plain === "" ? "" : `<p>${inline(plain).text}</p>`) + (list === "" ? "" : `<ul>${list}</ul>`);
}

export function inline(text: string): Html {
  return new Html(escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>"));
}
