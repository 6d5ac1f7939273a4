import { ERROR_CODES, ERROR_TYPES, type ErrorType } from '../../errors/codes.ts'
import { STATUS } from '../response/render-error.ts'
import { DOCS_STYLE } from './docs-style.ts'
import { operationsOf, type DocumentShape, type PlacedOperation } from './document-shape.ts'
import { ERROR_MEANINGS } from './error-meanings.ts'
import { Html, html, inline, prose } from './html.ts'
import { operationHtml, type Place } from './operation-html.ts'
import { schemaHtml } from './schema-html.ts'

/** Renders the documentation of the interface as a page, from its OpenAPI document alone. The page needs no script. */
export function docsPage(document: DocumentShape, origin: string): string {
  const operations = operationsOf(document)
  const groups = document.tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ tags }) => tags.includes(tag.name)),
  }))
  const place = { document, origin }
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        ${STYLE}
        <title>${document.info.title}: HTTP interface</title>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <p class="brand">Colophon</p>
          <h1>HTTP interface of ${document.info.title.replace(/^Colophon: /, '')}</h1>
          <p>Also as <a href="/openapi.json">OpenAPI 3.1</a>.</p>
        </header>
        <nav aria-label="Operations">${groups.map(navigation)}${OTHER_SECTIONS}</nav>
        <main id="content" tabindex="-1">
          <section class="about" aria-label="About">${prose(document.info.description)}</section>
          ${groups.map((group) => section(group, place))} ${errorsSection()} ${schemasSection(document)}
        </main>
      </body>
    </html>`
  return page.text
}

/** Not escaped: it is a constant, and the policy of the page names its hash. */
const STYLE = new Html(`<style>${DOCS_STYLE}</style>`)

interface Group {
  readonly name: string
  readonly description: string
  readonly operations: readonly PlacedOperation[]
}

const OTHER_SECTIONS = html`<ul class="others">
  <li><a href="#errors">Errors</a></li>
  <li><a href="#schemas">Schemas</a></li>
</ul>`

function navigation({ name, operations }: Group): Html {
  return html`<h2><a href="#tag-${name}">${name}</a></h2>
    <ul>
      ${operations.map(
        ({ operationId, method, summary }) =>
          html`<li>
            <a href="#${operationId}"
              ><span class="method ${method}">${method.toUpperCase()}</span> ${summary}</a
            >
          </li>`,
      )}
    </ul>`
}

function section({ name, description, operations }: Group, place: Place): Html {
  return html`<section aria-labelledby="tag-${name}">
    <h2 id="tag-${name}">${name}</h2>
    <p>${inline(description)}</p>
    ${operations.map((operation) => operationHtml(operation, place))}
  </section>`
}

/** The section that the `type` of problem details refers to. */
function errorsSection(): Html {
  return html`<section aria-labelledby="errors">
    <h2 id="errors">Errors</h2>
    <p>For an error in the HTTP message itself, the status is more specific than the type.</p>
    <dl>
      ${ERROR_TYPES.map(
        (type) =>
          html`<dt id="${type}"><code>${type}</code> ${STATUS[type]}</dt>
            <dd>
              <p>${inline(ERROR_MEANINGS[type])}</p>
              <ul>
                ${codesOf(type).map(([code, { meaning }]) => html`<li><code>${code}</code>: ${inline(meaning)}</li>`)}
              </ul>
            </dd>`,
      )}
    </dl>
  </section>`
}

function codesOf(type: ErrorType): [code: string, { readonly meaning: string }][] {
  return Object.entries(ERROR_CODES).filter(([, code]) => code.type === type)
}

function schemasSection({ components }: DocumentShape): Html {
  return html`<section aria-labelledby="schemas">
    <h2 id="schemas">Schemas</h2>
    ${Object.entries(components.schemas).map(
      ([name, schema]) =>
        html`<article id="schema-${name}" aria-labelledby="schema-${name}-title">
          <h3 id="schema-${name}-title">${name}</h3>
          ${prose(schema.description ?? '')} ${schemaHtml(schema)}
        </article>`,
    )}
  </section>`
}
