// The API description as a page to read: plain HTML, no script, nothing fetched from elsewhere.
import { type Html, html, prose } from "./docs-html.ts";
import { type Place, renderOperation } from "./docs-operation.ts";
import { docsStyle } from "./docs-style.ts";
import type { OpenApi } from "./openapi-types.ts";

interface Group {
  readonly name: string;
  readonly description: string;
  readonly places: readonly Place[];
}

export function renderDocsPage(document: OpenApi): string {
  const groups = groupByTag(document);
  const contents = renderContents(groups);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${document.info.title}</title>
<style>${docsStyle}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header><a class="brand" href="#top">${document.info.title}</a> <a href="/openapi.json">OpenAPI document</a></header>
<div class="frame">
<nav class="wide" aria-label="Contents">${contents}</nav>
<main id="main">
<section id="top" class="intro" aria-labelledby="title">
<h1 id="title">${document.info.title}</h1>
${prose(document.info.description)}
<details class="narrow"><summary>Contents</summary><nav aria-label="Contents">${contents}</nav></details>
</section>
<section id="authentication" class="intro" aria-labelledby="authentication-title">
<h2 id="authentication-title">Authentication</h2>
<p>Send one credential as <code>Authorization: Bearer $TOKEN</code>. Each operation says which kinds may call it.</p>
${Object.entries(document.components.securitySchemes).map(
  ([name, scheme]) => html`<h3>${credentialNames[name] ?? name}</h3>${prose(scheme.description)}`,
)}
</section>
${groups.map((group) => renderGroup(group, document))}
</main>
</div>
</body>
</html>
`;
  return page.text;
}

const credentialNames: Readonly<Record<string, string>> = {
  operatorToken: "Operator token",
  accessToken: "Access token",
  userToken: "User token",
};

function groupByTag(document: OpenApi): Group[] {
  const places = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): Place => ({ method, path, operation })),
  );
  return document.tags.map(({ name, description = "" }) => ({
    name,
    description,
    places: places.filter(({ operation }) => operation.tags.includes(name)),
  }));
}

function anchorOf(group: Group): string {
  return `tag-${group.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
}

function renderContents(groups: readonly Group[]): Html {
  return html`<ul><li><a class="group" href="#authentication">Authentication</a></li>${groups.map(
    (group) => html`
<li><a class="group" href="#${anchorOf(group)}">${group.name}</a><ul>${group.places.map(
      ({ method, operation }) =>
        html`<li><a href="#${operation.operationId}"><span>${operation.summary}</span> <span class="method ${method}">${method.toUpperCase()}</span></a></li>`,
    )}</ul></li>`,
  )}</ul>`;
}

function renderGroup(group: Group, document: OpenApi): Html {
  const anchor = anchorOf(group);
  return html`<section id="${anchor}" aria-labelledby="${anchor}-title">
<div class="intro"><h2 id="${anchor}-title">${group.name}</h2>${prose(group.description)}</div>
${group.places.map((place) => renderOperation(place, document))}</section>
`;
}
