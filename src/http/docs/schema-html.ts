import { refName, type SchemaShape } from './document-shape.ts'
import { html, type Html, inline, joined } from './html.ts'

/** Keywords that bound a value, and their wording on the page. */
const BOUNDS: Readonly<Record<string, string>> = {
  minimum: 'at least',
  exclusiveMinimum: 'more than',
  maximum: 'at most',
  exclusiveMaximum: 'less than',
  multipleOf: 'a multiple of',
  minLength: 'characters at least:',
  maxLength: 'characters at most:',
  minItems: 'items at least:',
  maxItems: 'items at most:',
  pattern: 'matches',
}

/** Renders a schema: the type in a line, and below it the members of objects. */
export function schemaHtml(schema: SchemaShape): Html {
  return html`<p class="type">${typeHtml(schema)}</p>
    ${detailsHtml(schema)}`
}

/** Renders the type of a value in a line. */
export function typeHtml(schema: SchemaShape): Html {
  if (schema.$ref !== undefined) {
    const name = refName(schema.$ref)
    return html`<a href="#schema-${name}">${name}</a>`
  }
  const forms = schema.anyOf ?? schema.oneOf
  if (forms !== undefined) return html`${joined(forms.map(typeHtml), ' or ')}`
  if (schema.const !== undefined) return code(JSON.stringify(schema.const))
  if (schema.enum !== undefined) {
    return html`${joined(
      schema.enum.map((value) => code(JSON.stringify(value))),
      ' or ',
    )}`
  }
  const types = [schema.type ?? []].flat()
  if (types.length === 0) return html`any value`
  const names = types.map((type) =>
    type === 'array' ? arrayHtml(schema.items) : html`${nameOf(type, schema)}`,
  )
  return html`${joined(names, ' or ')}`
}

function arrayHtml(items: SchemaShape | undefined): Html {
  return items === undefined ? html`array` : html`array of ${typeHtml(items)}`
}

function nameOf(type: string, { format, additionalProperties }: SchemaShape): string {
  if (type === 'string' && format !== undefined) return format === 'binary' ? 'bytes' : `string (${format})`
  return type === 'object' && typeof additionalProperties === 'object' ? 'object by name' : type
}

/** Renders the bounds, the examples, and the members of objects at any depth. */
export function detailsHtml(schema: SchemaShape): Html {
  const { properties, required = [], items, anyOf, oneOf, additionalProperties, examples } = schema
  const bounds = Object.entries(BOUNDS)
    .filter(([keyword]) => schema[keyword] !== undefined)
    .map(([keyword, words]) => html`${words} ${code(String(schema[keyword]))}`)
  const [example] = examples ?? []
  const inner = [
    items,
    ...(anyOf ?? oneOf ?? []),
    typeof additionalProperties === 'object' ? additionalProperties : undefined,
  ]
  return html`${bounds.length === 0 ? null : html`<p class="note">${joined(bounds, ', ')}</p>`}
  ${
    properties === undefined
      ? null
      : html`<ul class="members">
          ${Object.entries(properties).map(([name, member]) => memberHtml(name, member, required.includes(name)))}
        </ul>`
  }
  ${inner.filter((one) => one !== undefined).map(detailsHtml)}
  ${example === undefined || properties !== undefined ? null : html`<p class="note">for example ${code(JSON.stringify(example))}</p>`}`
}

function memberHtml(name: string, schema: SchemaShape, isRequired: boolean): Html {
  const { description } = schema
  return html`<li>
    <code class="name">${name}</code> <span class="type">${typeHtml(schema)}</span>
    ${isRequired ? null : html`<span class="optional">optional</span>`}
    ${description === undefined ? null : html`<p>${inline(description)}</p>`} ${detailsHtml(schema)}
  </li>`
}

function code(text: string): Html {
  return html`<code>${text}</code>`
}
