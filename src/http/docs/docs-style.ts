/** The style sheet of the documentation: the colours of the viewer, one column on a phone. */
export const DOCS_STYLE = `
:root {
  color-scheme: light dark;
  --bg: light-dark(#ffffff, #14161a);
  --sunken: light-dark(#f6f7f9, #1c1f25);
  --line: light-dark(#e2e5ea, #2b3038);
  --text: light-dark(#16191f, #e8eaee);
  --soft: light-dark(#545c69, #a9b1bd);
  --accent: light-dark(#3457d5, #8ea6ff);
  --get: light-dark(#11663d, #51cf8a);
  --post: light-dark(#2a49bd, #8ea6ff);
  --delete: light-dark(#b01f1f, #ff8787);
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace;
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0;
  background: var(--bg);
  color: var(--text);
  font: 15px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif;
  overflow-wrap: break-word;
}
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
main:focus { outline: none; }
code, pre { font-family: var(--mono); font-size: 0.87em; }
p { margin: 0.4rem 0; max-width: 70ch; }
header { padding: 1.75rem 1.25rem 1rem; border-bottom: 1px solid var(--line); }
.brand { margin: 0; color: var(--soft); font-weight: 600; letter-spacing: 0.02em; }
h1 { margin: 0.1rem 0 0.4rem; font-size: 1.6rem; line-height: 1.25; }
h2 { margin: 2.5rem 0 0.25rem; font-size: 1.3rem; }
h3 { margin: 0 0 0.35rem; font-size: 1.08rem; }
h4 { margin: 1.1rem 0 0.35rem; font-size: 0.8rem; color: var(--soft); text-transform: uppercase; letter-spacing: 0.05em; }
nav { padding: 1rem 1.25rem; border-bottom: 1px solid var(--line); }
nav h2 { margin: 0; font-size: 0.95rem; display: inline-block; }
nav h2 a { display: inline-block; padding: 0.35rem 0.75rem 0.35rem 0; color: var(--text); text-decoration: none; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav ul:not(.others) { display: none; }
nav .others { display: flex; gap: 1rem; }
nav .others a { font-weight: 600; padding: 0.35rem 0; display: inline-block; color: var(--text); text-decoration: none; }
nav a:hover { text-decoration: underline; }
main { padding: 0.5rem 1.25rem 4rem; min-width: 0; }
article { margin: 1.25rem 0; padding: 1.1rem 1.25rem; border: 1px solid var(--line); border-radius: 8px; }
article:target, dt:target { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
.route { overflow-wrap: anywhere; font-size: 1rem; }
.method { font: 600 0.72rem/1 var(--mono); letter-spacing: 0.03em; }
.method.get { color: var(--get); }
.method.post { color: var(--post); }
.method.delete { color: var(--delete); }
.note, .optional { color: var(--soft); font-size: 0.9em; }
.type { color: var(--soft); }
.name { font-weight: 600; font-size: 0.9em; }
.members { list-style: none; margin: 0.4rem 0; padding: 0; border-left: 2px solid var(--line); }
.members > li { padding: 0.25rem 0 0.25rem 0.9rem; }
.members p { margin: 0.1rem 0; }
dl { margin: 0.4rem 0; display: grid; grid-template-columns: max-content 1fr; gap: 0.3rem 1rem; }
dt { padding-top: 0.05rem; }
dd { margin: 0; min-width: 0; }
dd p { margin: 0 0 0.2rem; }
pre { margin: 0.4rem 0 0; padding: 0.75rem 0.9rem; background: var(--sunken); border-radius: 6px; overflow-x: auto; }
.skip { position: absolute; left: -100vw; padding: 0.5rem 1rem; background: var(--bg); }
.skip:focus { left: 0.5rem; top: 0.5rem; z-index: 1; }
@media (max-width: 599px) {
  article { padding: 0.9rem; }
  section[aria-labelledby='errors'] dl { grid-template-columns: 1fr; }
  section[aria-labelledby='errors'] dd { margin-bottom: 0.5rem; }
}
@media (min-width: 1000px) {
  body { display: grid; grid-template-columns: 19rem minmax(0, 1fr); }
  header { grid-column: 1 / -1; padding: 1.75rem 2rem 1.25rem; }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-bottom: 0; border-right: 1px solid var(--line); padding: 1rem 1rem 2rem 2rem; }
  nav h2 { display: block; margin-top: 0.75rem; }
  nav ul:not(.others), nav .others { display: block; }
  nav li a { display: grid; grid-template-columns: 3.4rem 1fr; align-items: baseline; padding: 0.15rem 0; color: var(--soft); text-decoration: none; font-size: 0.92em; }
  main { padding: 0.5rem 2.5rem 5rem; max-width: 62rem; }
}
`
