// One operation as a section of the page: what it does and takes on one side, a call and its answer on the other.
import { fieldRows, type Row, renderFields } from "./docs-fields.ts";
import { type Html, html, inline, nothing, prose } from "./docs-html.ts";
import { nameOfRef } from "./openapi-examples.ts";
import type { MediaType, OpenApi, Operation, Parameter, Reference, Response } from "./openapi-types.ts";

export interface Place {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function renderOperation(place: Place, document: OpenApi): Html {
  const { method, path, operation } = place;
  const id = operation.operationId;
  return html`<article class="operation" id="${id}" aria-labelledby="${id}-title">
<div class="words">
<h3 id="${id}-title"><a href="#${id}">${operation.summary}</a></h3>
<p class="address"><span class="method ${method}">${method.toUpperCase()}</span> <code>${breakable(path)}</code></p>
${prose(operation.description)}
${renderInput(operation, document)}${renderAnswers(operation, document)}
</div>
<div class="code">
<h4>Request</h4><pre tabindex="0" role="group" aria-label="Example request"><code>${curlOf(place, document)}</code></pre>
${renderExampleAnswer(operation)}
</div>
</article>
`;
}

/** Long addresses may wrap after a slash. */
function breakable(path: string): Html[] {
  return path.split("/").map((segment, at) => (at === 0 ? html`${segment}` : html`/<wbr>${segment}`));
}

function renderInput(operation: Operation, document: OpenApi): Html {
  const { schemas } = document.components;
  const groups = (["path", "query", "header"] as const).map((place) => {
    const rows = (operation.parameters ?? []).filter((parameter) => parameter.in === place).map(toRow);
    return rows.length === 0 ? nothing : html`<h4>${headings[place]}</h4>${renderFields(rows, schemas)}`;
  });
  const body = operation.requestBody;
  const schema = body?.content["application/json"]?.schema;
  if (body === undefined || schema === undefined) return html`${groups}`;
  return html`${groups}<h4>Body${body.required ? nothing : html` <span class="optional">optional</span>`}</h4>${renderFields(fieldRows(schema, schemas, true), schemas)}`;
}

const headings = { path: "Path", query: "Query", header: "Headers" } as const;

function toRow({ name, schema, required, description }: Parameter): Row {
  return { name, schema, required, description };
}

function renderAnswers(operation: Operation, document: OpenApi): Html {
  const [[status, success] = ["", undefined], ...errors] = Object.entries(operation.responses);
  const content = success === undefined ? undefined : contentOf(resolveResponse(success, document));
  const { schemas } = document.components;
  const fields =
    content === undefined
      ? html`<p>No body.</p>`
      : content.type === "application/json"
        ? renderFields(fieldRows(content.media.schema, schemas, false), schemas)
        : html`<p>A body of type <code>${content.type}</code>.</p>`;
  return html`<h4>Answer <span class="status">${status}</span></h4>${fields}
<details><summary>Errors <span class="statuses">${errors.map(([code]) => code).join(" ")}</span></summary><dl class="errors">${errors.map(
    ([code, response]) =>
      html`<dt>${code}</dt><dd>${inline(resolveResponse(response, document).description)}</dd>`,
  )}</dl></details>`;
}

function resolveResponse(response: Response | Reference, { components }: OpenApi): Response {
  if (!("$ref" in response)) return response;
  const found = components.responses[nameOfRef(response) ?? ""];
  return found ?? { description: "", headers: {} };
}

function contentOf(response: Response): { type: string; media: MediaType } | undefined {
  const [entry] = Object.entries(response.content ?? {});
  return entry === undefined ? undefined : { type: entry[0], media: entry[1] };
}

function renderExampleAnswer(operation: Operation): Html {
  const [entry] = Object.entries(operation.responses);
  if (entry === undefined || "$ref" in entry[1]) return nothing;
  const example = contentOf(entry[1])?.media.example;
  if (example === undefined) return nothing;
  return html`<h4>Answer ${entry[0]}</h4><pre tabindex="0" role="group" aria-label="Example answer"><code>${JSON.stringify(example, null, 2)}</code></pre>`;
}

function curlOf({ method, path, operation }: Place, document: OpenApi): string {
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = operation.parameters?.find((one) => one.in === "path" && one.name === name);
    return encodeURIComponent(String(parameter?.example ?? name));
  });
  const body = operation.requestBody?.content["application/json"]?.example;
  const stream = Object.values(operation.responses).some(
    (response) => !("$ref" in response) && response.content?.["text/event-stream"] !== undefined,
  );
  const verb = method === (body === undefined ? "get" : "post") ? "" : ` -X ${method.toUpperCase()}`;
  return [
    `curl${stream ? " -N" : ""}${verb} ${document.servers[0]?.url ?? ""}${address}`,
    ...(operation.security.length === 0 ? [] : [`-H "Authorization: Bearer $TOKEN"`]),
    ...(body === undefined
      ? []
      : [
          `-H "Content-Type: application/json"`,
          `-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`,
        ]),
  ].join(" \\\n  ");
}
