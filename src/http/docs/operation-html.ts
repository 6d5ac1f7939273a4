import {
  refName,
  type DocumentShape,
  type OperationShape,
  type ParameterShape,
  type PlacedOperation,
  type ResponseShape,
} from './document-shape.ts'
import { html, type Html, inline, joined, prose } from './html.ts'
import { sampleOf } from './sample.ts'
import { detailsHtml, schemaHtml, typeHtml } from './schema-html.ts'

/** The address of the service, for commands that can be tried. */
export interface Place {
  readonly document: DocumentShape
  /** Such as `http://127.0.0.1:3000`. */
  readonly origin: string
}

/** Renders an operation as a section of the page. */
export function operationHtml(operation: PlacedOperation, place: Place): Html {
  const { operationId, method, path, summary, description, requestBody } = operation
  return html`<article id="${operationId}" aria-labelledby="${operationId}-title">
    <h3 id="${operationId}-title">${summary}</h3>
    <p class="route"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></p>
    ${prose(description ?? '')}
    ${operation.security.length === 0 ? null : html`<p class="note">Requires the CSRF token.</p>`}
    ${parametersHtml(operation, place.document)}
    ${
      requestBody === undefined
        ? null
        : html`<h4>Body${requestBody.required ? '' : ', optional'}</h4>
            ${Object.values(requestBody.content).map(({ schema }) => schemaHtml(schema))}`
    }
    <h4>Responses</h4>
    <dl>
      ${Object.entries(operation.responses).map(([status, response]) => answerHtml(status, response, place.document))}
    </dl>
    <h4>With curl</h4>
    <pre
      tabindex="0"
      role="region"
      aria-label="Command for ${operationId}"
    ><code>${curl(operation, place)}</code></pre>
  </article>`
}

function parametersHtml({ parameters = [] }: OperationShape, document: DocumentShape): Html | null {
  if (parameters.length === 0) return null
  return html`<h4>Parameters</h4>
    <ul class="members">
      ${parameters.map((one) => parameterHtml(resolve(one, document)))}
    </ul>`
}

function resolve(parameter: ParameterShape, { components }: DocumentShape): ParameterShape {
  return parameter.$ref === undefined
    ? parameter
    : (components.parameters[refName(parameter.$ref)] ?? parameter)
}

const PLACES: Readonly<Record<string, string>> = { path: 'in the path', header: 'header' }

function parameterHtml({
  name = '',
  in: where = '',
  required,
  description,
  schema,
  content = {},
}: ParameterShape): Html {
  const [inContent] = Object.values(content)
  const shown = schema ?? inContent?.schema ?? {}
  return html`<li>
    <code class="name">${name}</code> <span class="type">${typeHtml(shown)}</span>
    ${PLACES[where] === undefined ? null : html`<span class="optional">${PLACES[where] ?? ''}</span>`}
    ${required === true && where !== 'path' ? html`<span class="optional">required</span>` : null}
    ${description === undefined ? null : html`<p>${inline(description)}</p>`} ${detailsHtml(shown)}
  </li>`
}

function answerHtml(status: string, response: ResponseShape, { components }: DocumentShape): Html {
  const { $ref } = response
  const {
    description = '',
    headers = {},
    content = {},
  } = $ref === undefined ? response : (components.responses[refName($ref)] ?? response)
  // Headers of nearly every response are described once, elsewhere.
  const named = Object.keys(headers).filter((name) => name !== 'Set-Cookie' && name !== 'ETag')
  return html`<dt><code>${status}</code></dt>
    <dd>
      <p>${inline(description)}</p>
      ${
        named.length === 0
          ? null
          : html`<p class="note">
              Headers:
              ${joined(
                named.map((name) => html`<code>${name}</code>`),
                ', ',
              )}
            </p>`
      }
      ${$ref === undefined ? Object.entries(content).map(([type, { schema }]) => contentHtml(type, schema)) : null}
    </dd>`
}

function contentHtml(type: string, schema: Parameters<typeof schemaHtml>[0]): Html {
  const each = { 'text/event-stream': ', each frame', 'application/x-ndjson': ', each line' }[type] ?? ''
  return html`<p class="note"><code>${type}</code>${each}:</p>
    ${schemaHtml(schema)}`
}

/** Returns a command that carries out the operation; placeholders are in braces. */
function curl(
  { method, path, security, requestBody, parameters = [] }: PlacedOperation,
  { document, origin }: Place,
): string {
  const asked = parameters
    .filter(({ in: where, required }) => where === 'query' && required === true)
    .map(({ name = '' }) => `${name}={${name}}`)
  const url = `${origin}${path}${asked.length === 0 ? '' : `?${asked.join('&')}`}`
  const [body] = Object.values(requestBody?.content ?? {})
  return [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}'${url}'`,
    ...(security.length === 0 ? [] : [`-H 'Cookie: svc_csrf=x' -H 'X-CSRF-Token: x'`]),
    ...(body === undefined
      ? []
      : [
          `-H 'Content-Type: application/json'`,
          `-d '${JSON.stringify(sampleOf(body.schema, document)).replaceAll("'", '’')}'`,
        ]),
  ].join(' \\\n  ')
}
