import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

type Json = unknown
type Schema = Readonly<Record<string, Json>>
type Members = Readonly<Record<string, Json>>

interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly example?: Json
  readonly schema?: Schema
  readonly allowEmptyValue?: boolean
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly required: boolean
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>
  }
  readonly responses: Readonly<Record<string, { readonly content?: object }>>
}

/** The members of an OpenAPI document that requests are made from. */
export interface RequestDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** A request at an edge of the document's schemas. */
export interface EdgeRequest {
  readonly operationId: string
  readonly method: string
  readonly url: string
  /** JSON text; undefined for no body. */
  readonly body: string | undefined
  /** Whether the document allows it. */
  readonly isAllowed: boolean
  /** Whether the response is a stream, which does not end. */
  readonly isStream: boolean
}

/** Values of each type, which a schema may or may not allow. */
const ANYTHING: readonly Json[] = [
  null,
  '',
  ' ',
  'nonsense',
  'a\u0000b',
  0,
  -1,
  1.5,
  true,
  [],
  [5],
  ['nonsense'],
  {},
]
/** Texts for any parameter. */
const TEXTS: readonly string[] = [
  '',
  ' ',
  'nonsense',
  'a,b',
  '0',
  '-1',
  '1.5',
  '1e3',
  'true',
  '{}',
  '[]',
  'null',
  '"',
]

/** The depth in a schema at which members and items are no longer at their edges. */
const WITHOUT_MEMBERS = 2

/** Makes requests at the edges of the schemas of an OpenAPI document: each member and parameter, one at a time and in pairs. */
export class EdgeRequests {
  readonly #document: RequestDocument
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true })
  readonly #validators = new Map<Schema, ValidateFunction>()
  /** The schemas of parameters whose members have been at their edges in an earlier request, as text. */
  readonly #tried = new Set<string>()
  /** Values of path parameters without an example. */
  readonly #ids: Readonly<Record<string, string>>

  constructor(document: RequestDocument, ids: Readonly<Record<string, string>>) {
    this.#document = document
    this.#ids = ids
    this.#ajv.addSchema(document, 'openapi')
  }

  /** Yields the requests of all operations, by operation. */
  *all(): Generator<readonly EdgeRequest[]> {
    for (const [path, methods] of Object.entries(this.#document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const isStream = JSON.stringify(operation.responses).includes('text/event-stream')
        const about = { operationId: operation.operationId, method: method.toUpperCase(), isStream }
        const parameters = (operation.parameters ?? []).filter((one) => one.$ref === undefined)
        const queries = [...this.#queries(parameters.filter((one) => one.in === 'query'))]
        const [plain] = queries
        const paths = [
          ...this.#paths(
            path,
            parameters.filter((one) => one.in === 'path'),
          ),
        ]
        const [here] = paths
        if (plain === undefined || here === undefined) throw new Error(`no request for ${about.operationId}`)
        yield [
          ...queries.map((query) => ({
            ...about,
            url: here.text + query.text,
            body: undefined,
            isAllowed: query.isAllowed && operation.requestBody?.required !== true,
          })),
          ...paths.slice(1).map((other) => ({
            ...about,
            url: other.text + plain.text,
            body: undefined,
            isAllowed: other.isAllowed && operation.requestBody?.required !== true,
          })),
          ...[...this.#bodies(operation)].map(({ text, isAllowed }) => ({
            ...about,
            url: here.text + plain.text,
            body: text,
            isAllowed,
          })),
        ]
      }
    }
  }

  *#paths(path: string, parameters: readonly Parameter[]): Generator<Edge> {
    const fill = (texts: Readonly<Record<string, string>>): string =>
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(texts[name] ?? ''))
    const base = Object.fromEntries(
      parameters.map((one) => [one.name, textOf(one, one.example ?? this.#ids[path] ?? 'a')]),
    )
    yield { text: fill(base), isAllowed: true }
    for (const one of parameters) {
      for (const text of ['nonsense', ' ', 'a,b', 'x'.repeat(600)]) {
        yield { text: fill({ ...base, [one.name]: text }), isAllowed: this.#allowsText(one, text) }
      }
    }
  }

  *#queries(parameters: readonly Parameter[]): Generator<Edge> {
    const required = parameters.filter((one) => one.required)
    const base = Object.fromEntries(required.map((one) => [one.name, this.#goodText(one)]))
    yield { text: queryOf(base), isAllowed: true }
    yield { text: queryOf({ ...base, not_a_parameter: '1' }), isAllowed: false }
    for (const { name } of required) {
      const { [name]: _left, ...rest } = base
      yield { text: queryOf(rest), isAllowed: false }
    }
    for (const one of parameters) {
      const texts = new Set([...TEXTS, ...this.#edgesOf(one).map((value) => textOf(one, value))])
      for (const text of texts) {
        yield { text: queryOf({ ...base, [one.name]: text }), isAllowed: this.#allowsText(one, text) }
      }
    }
    for (const [a, b] of pairs(parameters)) {
      const given = { ...base, [a.name]: this.#goodText(a), [b.name]: this.#goodText(b) }
      yield { text: queryOf(given), isAllowed: true }
    }
  }

  *#bodies({ requestBody }: Operation): Generator<Edge> {
    if (requestBody === undefined) return
    const content = requestBody.content['application/json']
    if (content === undefined) {
      // A file: its content is no matter of the document.
      yield { text: '', isAllowed: false }
      return
    }
    const { schema } = content
    const edge = (body: Json): Edge => ({ text: JSON.stringify(body), isAllowed: this.#allows(schema, body) })
    yield { text: '', isAllowed: this.#allows(schema, {}) }
    for (const body of [null, [], 'text', 5, {}, { not_a_member: 1 }]) yield edge(body)
    for (const form of this.#forms(schema)) {
      const properties = Object.entries((form['properties'] ?? {}) as Readonly<Record<string, Schema>>)
      const required = (form['required'] ?? []) as readonly string[]
      const good = Object.fromEntries(properties.map(([name, one]) => [name, this.#good(one)]))
      const base: Members = Object.fromEntries(required.map((name) => [name, good[name]]))
      yield edge(base)
      yield edge({ ...base, not_a_member: 1 })
      for (const name of required) {
        const { [name]: _left, ...rest } = base
        yield edge(rest)
      }
      for (const [name, one] of properties) {
        for (const value of [...ANYTHING, ...this.#edges(one)]) yield edge({ ...base, [name]: value })
      }
      for (const [[a], [b]] of pairs(properties)) yield edge({ ...base, [a]: good[a], [b]: good[b] })
    }
  }

  /** Returns the alternatives of a schema. */
  #forms(schema: Schema): readonly Schema[] {
    const resolved = this.#resolve(schema)
    const forms = (resolved['oneOf'] ?? resolved['anyOf']) as readonly Schema[] | undefined
    return forms === undefined ? [resolved] : forms.flatMap((form) => this.#forms(form))
  }

  #resolve(schema: Schema): Schema {
    const { $ref } = schema
    if (typeof $ref !== 'string') return schema
    const named = this.#document.components.schemas[$ref.slice($ref.lastIndexOf('/') + 1)]
    if (named === undefined) throw new Error(`no schema ${$ref}`)
    return this.#resolve(named)
  }

  /** Returns the edges of a parameter: with those of its members only for the first parameter that has this schema. */
  #edgesOf(parameter: Parameter): readonly Json[] {
    const schema = schemaOf(parameter)
    const text = JSON.stringify(schema)
    const edges = this.#edges(schema, this.#tried.has(text) ? WITHOUT_MEMBERS : 0)
    this.#tried.add(text)
    return edges
  }

  /** Returns values at and just beyond the bounds of a schema. */
  #edges(schema: Schema, depth = 0): readonly Json[] {
    const edges = this.#forms(schema).flatMap((form) => {
      const { enum: values = [], minimum, maximum, minLength, maxLength, minItems, maxItems, items } = form
      const numbers = [minimum, maximum].filter((one) => typeof one === 'number')
      const lengths = [minLength, maxLength].filter((one) => typeof one === 'number')
      // Longer lists take too long.
      const counts = [minItems, maxItems].filter((one) => typeof one === 'number' && one <= 2000) as number[]
      const members = Object.entries((form['properties'] ?? {}) as Readonly<Record<string, Schema>>)
      const whole = this.#good(form)
      return [
        ...(values as readonly Json[]),
        ...numbers.flatMap((one) => [one - 1, one, one + 1, one + 0.5]),
        ...lengths.flatMap((one) => ['x'.repeat(Math.max(0, one - 1)), 'x'.repeat(one), 'x'.repeat(one + 1)]),
        ...counts.flatMap((one) => [one - 1, one, one + 1]).map((count) => this.#list(items, count)),
        ...(typesOf(form).includes('boolean') ? [true, false] : []),
        ...(items === undefined || depth >= WITHOUT_MEMBERS
          ? []
          : this.#edges(items as Schema, depth + 1).map((one) => [one])),
        ...(depth >= WITHOUT_MEMBERS
          ? []
          : members.flatMap(([name, member]) =>
              [...ANYTHING, ...this.#edges(member, depth + 1)].map((one) => ({
                ...(whole as Members),
                [name]: one,
              })),
            )),
      ]
    })
    return [this.#good(schema), ...edges]
  }

  /** Returns a value that a schema allows: its example, or the simplest one. */
  #good(schema: Schema): Json {
    const [example] = (schema['examples'] ?? []) as readonly Json[]
    if (example !== undefined) return example
    const [form = {}] = this.#forms(schema)
    const [ofForm] = (form['examples'] ?? []) as readonly Json[]
    if (ofForm !== undefined) return ofForm
    const [first] = (form['enum'] ?? []) as readonly Json[]
    if (first !== undefined) return first
    const [type] = typesOf(form)
    switch (type) {
      case 'integer':
      case 'number':
        return form['minimum'] ?? 1
      case 'boolean':
        return true
      case 'array':
        return form['items'] === undefined ? [] : [this.#good(form['items'] as Schema)]
      case 'object': {
        const properties = (form['properties'] ?? {}) as Readonly<Record<string, Schema>>
        const required = (form['required'] ?? []) as readonly string[]
        return Object.fromEntries(required.map((name) => [name, this.#good(properties[name] ?? {})]))
      }
      case 'null':
        return null
      default:
        return 'a'
    }
  }

  /** Returns a list of a length, with different items if possible. */
  #list(items: Json, count: number): readonly Json[] {
    const [form = {}] = this.#forms((items ?? {}) as Schema)
    const good = this.#good(form)
    const { enum: values = [], pattern } = form
    const known = values as readonly Json[]
    return Array.from({ length: Math.max(0, count) }, (_, index) => {
      if (known.length > 0) return known[index % known.length]
      return typeof good === 'string' && pattern !== undefined ? `${good}${index}` : good
    })
  }

  #goodText(parameter: Parameter): string {
    return textOf(parameter, parameter.example ?? this.#good(schemaOf(parameter)))
  }

  /** Whether a parameter allows a text, parsed by its schema. */
  #allowsText(parameter: Parameter, text: string): boolean {
    if (text === '' && parameter.allowEmptyValue === true) return true
    const schema = schemaOf(parameter)
    if (parameter.content !== undefined) {
      try {
        return this.#allows(schema, JSON.parse(text))
      } catch {
        return false
      }
    }
    return this.#forms(schema).some((form) => {
      const values = typesOf(form).includes('array') ? [itemsOf(text)] : [text, ...scalarsOf(text)]
      return values.some((value) => this.#allows(schema, value))
    })
  }

  #allows(schema: Schema, value: Json): boolean {
    let validate = this.#validators.get(schema)
    if (validate === undefined) {
      // Resolves references of the document.
      validate = this.#ajv.compile(
        JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as object,
      )
      this.#validators.set(schema, validate)
    }
    return validate(value)
  }
}

interface Edge {
  readonly text: string
  readonly isAllowed: boolean
}

function schemaOf({ schema, content = {} }: Parameter): Schema {
  return schema ?? Object.values(content)[0]?.schema ?? {}
}

function typesOf({ type }: Schema): readonly string[] {
  return typeof type === 'string' ? [type] : ((type ?? []) as readonly string[])
}

/** A value as the text of a parameter. */
function textOf({ content }: Parameter, value: Json): string {
  if (content !== undefined) return JSON.stringify(value)
  if (Array.isArray(value)) return value.join(',')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The items of a comma-separated list: they are trimmed, repeats count once, and empty ones do not count (D12). */
function itemsOf(text: string): readonly string[] {
  const items = text.split(',').map((item) => item.trim())
  return [...new Set(items.filter((item) => item !== ''))]
}

/** The number or truth value that a text is. */
function scalarsOf(text: string): readonly Json[] {
  return /^(?:-?\d+(?:\.\d+)?|true|false)$/.test(text)
    ? [JSON.parse(text.replace(/^(-?)0+(?=\d)/, '$1'))]
    : []
}

function queryOf(texts: Readonly<Record<string, string>>): string {
  const pairsOf = Object.entries(texts).map(([name, text]) => `${name}=${encodeURIComponent(text)}`)
  return pairsOf.length === 0 ? '' : `?${pairsOf.join('&')}`
}

function pairs<T>(items: readonly T[]): readonly (readonly [T, T])[] {
  return items.flatMap((a, index) => items.slice(index + 1).map((b) => [a, b] as const))
}
