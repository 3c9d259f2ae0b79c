// The API description as a page to read: plain HTML, no script.
import type { OpenApi } from "./openapi.ts";

export function renderDocsPage(document: OpenApi): string {
  return `<!doctype html><title>Coinslot API</title><pre>${Object.keys(document.paths).join("\n")}</pre>`;
}
