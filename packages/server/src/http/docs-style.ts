// How the page looks: light and dark by the reader's setting, one column on a phone, three on a desk.
import { Html } from "./docs-html.ts";

const css = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --panel: #f6f8fa; --line: #e3e8ee; --text: #2a2f45; --strong: #1a1f36; --soft: #596075;
  --link: #4b45c6; --code-page: #1f2540; --code-text: #e6e9f5; --code-soft: #a9b1cc; --warn: #a3400f;
  --get: #0b6b4f; --post: #1d56b8; --change: #8a4b00; --delete: #b3243b;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #10131f; --panel: #181c2b; --line: #2a3044; --text: #cdd3e4; --strong: #f2f4fb; --soft: #9aa3bd;
    --link: #a5a2ff; --code-page: #0a0c15; --code-text: #dfe4f5; --code-soft: #9aa3bd; --warn: #f0a36b;
    --get: #5fd0a5; --post: #86b4ff; --change: #e9b35f; --delete: #ff8c9b;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
a { color: var(--link); text-underline-offset: .2em; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: 1rem; z-index: 2; background: var(--page); padding: .5rem 1rem; }
header { position: sticky; top: 0; z-index: 1; display: flex; gap: 1rem; justify-content: space-between; align-items: baseline;
  padding: .85rem max(1.25rem, calc((100vw - 100rem) / 2 + 1.25rem)); background: var(--page); border-bottom: 1px solid var(--line); font-size: .9rem; }
.brand { color: var(--strong); font-weight: 650; text-decoration: none; font-size: 1rem; }
h1, h2, h3, h4 { color: var(--strong); line-height: 1.25; text-wrap: balance; }
h1 { font-size: 2rem; margin: 0 0 1rem; letter-spacing: -.02em; }
h2 { font-size: 1.5rem; margin: 0 0 .5rem; letter-spacing: -.01em; }
h3 { font-size: 1.15rem; margin: 0 0 .5rem; }
.intro h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
h4 { font-size: .85rem; margin: 1.5rem 0 .5rem; }
h3 a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
p { margin: 0 0 .75rem; }
code, pre { font-family: var(--mono); font-size: .86em; }
p code, li code, dd code { overflow-wrap: anywhere; }
main { padding: 0 1.25rem 4rem; min-width: 0; }
section { padding: 2.5rem 0 0; }
section + section { border-top: 1px solid var(--line); margin-top: 2.5rem; }
.intro { max-width: 44rem; }
.intro ul { padding-left: 1.25rem; margin: 0 0 .75rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: flex; gap: .75rem; justify-content: space-between; align-items: baseline; padding: .25rem .5rem; border-radius: 5px;
  color: var(--text); text-decoration: none; font-size: .875rem; line-height: 1.4; }
nav a:hover { background: var(--panel); color: var(--strong); }
nav a.group { color: var(--strong); font-weight: 600; margin-top: .9rem; }
nav .method { font-size: .65rem; flex: none; }
.wide { display: none; }
.narrow { margin-top: 1.5rem; border: 1px solid var(--line); border-radius: 8px; padding: .5rem .75rem; }
summary { cursor: pointer; font-size: .875rem; font-weight: 600; color: var(--strong); padding: .25rem 0; }
.method { font: 700 .75rem/1 var(--mono); letter-spacing: .03em; color: var(--change); }
.method.get { color: var(--get); } .method.post { color: var(--post); } .method.delete { color: var(--delete); }
.operation { padding: 2rem 0 0; margin-top: 2rem; border-top: 1px solid var(--line); display: grid; gap: 1.5rem; }
.words, .code { min-width: 0; }
.address { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .45rem .7rem; overflow-wrap: anywhere; }
.address code { color: var(--strong); }
.fields { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
.fields li { padding: .6rem 0; border-bottom: 1px solid var(--line); }
.fields p { margin: .15rem 0 0; font-size: .9rem; }
.fields .fields { margin: .6rem 0 0; padding-left: 1rem; border-top: 0; border-left: 2px solid var(--line); }
.fields .fields li:last-child { border-bottom: 0; padding-bottom: 0; }
.field { display: flex; flex-wrap: wrap; gap: .15rem .6rem; align-items: baseline; }
.name { color: var(--strong); font-weight: 600; overflow-wrap: anywhere; }
.type, .optional { color: var(--soft); font-size: .8rem; font-weight: 400; }
.required { color: var(--warn); font-size: .8rem; }
.fields .limits { color: var(--soft); font-size: .8rem; overflow-wrap: anywhere; }
.status { color: var(--get); font-family: var(--mono); }
.statuses { color: var(--soft); font: 400 .8rem var(--mono); word-spacing: .2em; }
details:not(.narrow) { margin-top: 1.25rem; }
.errors { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .4rem 1rem; margin: .5rem 0 0; font-size: .875rem; }
.errors dt { font-family: var(--mono); color: var(--soft); }
.errors dd { margin: 0; }
.code h4 { margin: 0 0 .4rem; color: var(--soft); font-weight: 600; }
.code pre + h4 { margin-top: 1rem; }
pre { margin: 0; padding: 1rem; overflow: auto; max-height: 32rem; background: var(--code-page); color: var(--code-text);
  border: 1px solid var(--line); border-radius: 8px; font-size: .8rem; line-height: 1.55; }
pre code { font-size: inherit; }
@media (min-width: 64rem) {
  .frame { display: grid; grid-template-columns: 18rem minmax(0, 1fr); max-width: 100rem; margin: 0 auto; }
  .wide { display: block; position: sticky; top: 3.2rem; height: calc(100vh - 3.2rem); overflow: auto; padding: .5rem .75rem 3rem; border-right: 1px solid var(--line); }
  .narrow { display: none; }
  main { padding: 0 2.5rem 6rem; }
}
@media (min-width: 76rem) {
  .operation { grid-template-columns: minmax(0, 1fr) minmax(0, 28rem); gap: 2.5rem; }
  .code { position: sticky; top: 4.5rem; align-self: start; }
  .code pre { max-height: calc(50vh - 5rem); }
}
@media (min-width: 100rem) {
  .operation { grid-template-columns: minmax(0, 1fr) minmax(0, 34rem); gap: 3.5rem; }
}
@media print { .wide, .narrow, header { display: none; } .code { position: static; } .code pre { max-height: none; } }
`;

export const docsStyle = new Html(css);
