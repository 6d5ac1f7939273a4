import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { showNames, showValue } from '../../contract/json/show-value.ts'
import type { DifferenceAction } from '../../files/folio/difference-report.ts'

export interface TranslationContext {
  /** The fields of the new sheet by their names in folio. */
  readonly names: ReadonlyMap<string, string>
  /** Returns a file of the sheet with a prompt. */
  prompt(path: string): Uint8Array | null
  /** Whether there is a sheet at a path, relative to the directory of the new sheet. */
  hasSheet(path: string): boolean
  /** Reports a difference of a key, if the derivation is adopted. */
  note(action: DifferenceAction, key: string, message: string): void
}

/** The keys of a derivation file, or the reason why it cannot be expressed, with the key that causes it. */
export type Translation = { readonly keys: JsonObject } | { readonly reason: string; readonly key: string }

const PLACEHOLDER = /\{\{\s*(\w+)\s*\}\}/g

/** Translates the keys of a derivation file of folio, which keep their order. Whether the result is valid is not checked. */
export function translateDerivation(keys: JsonObject, context: TranslationContext): Translation {
  const kind = keys['kind'] ?? null
  const changed = new Map([...context.names].filter(([folio, name]) => folio !== name))
  const fault = renameFault(keys, changed, context)
  if (fault !== null) return fault
  const adopted: Record<string, JsonValue> = {}
  for (const [key, value] of Object.entries(keys)) {
    if (value === null) continue
    if (key === 'materialization') {
      const kept = materializationOf(value, context)
      if (kept !== null) adopted[key] = kept
    } else adopted[key] = withNames(key, value, changed)
  }
  if (kind === 'http') return translateHttp(adopted, context)
  noteKind(adopted, context)
  return { keys: adopted }
}

/** The differences between the kinds of derivations here and in folio. */
const KIND_NOTES: Readonly<Record<string, readonly [DifferenceAction, string]>> = {
  python: [
    'kept',
    'a run needs --allow-scripts, and the script is confined: it has no network, and the sheet is read-only',
  ],
  ai: [
    'adapted',
    'values are put into the prompt as data, and the model gets instructions and the types of the contract; folio sends the prompt alone',
  ],
  sql: [
    'adapted',
    'the expression is in the SQL of the store of the sheet, and not of DuckDB; a statement with several rows needs ORDER BY, or its cells fail',
  ],
}

/** Notes what a kind does in another way. */
function noteKind({ kind, source_sheet: sheet }: JsonObject, { note, hasSheet }: TranslationContext): void {
  const known = typeof kind === 'string' && Object.hasOwn(KIND_NOTES, kind) ? KIND_NOTES[kind] : undefined
  if (known !== undefined) note(known[0], 'kind', known[1])
  if (kind !== 'cross_sheet' || typeof sheet !== 'string' || hasSheet(sheet)) return
  note(
    'kept',
    'source_sheet',
    `there is no sheet at ${sheet} from the new directory; adopt it there as well, or edit source_sheet`,
  )
}

/** Returns why a derivation cannot follow the names of fields that are others here; null if it can. */
function renameFault(
  keys: JsonObject,
  changed: ReadonlyMap<string, string>,
  { prompt }: TranslationContext,
): { readonly reason: string; readonly key: string } | null {
  const shown = (names: readonly string[]): string => `${showNames(names)} has another name here`
  const { kind = null, inputs = null, expression = null, prompt_ref: path = null } = keys
  const listed = Array.isArray(inputs) ? (inputs as readonly JsonValue[]) : []
  const renamed = listed.filter((name): name is string => typeof name === 'string' && changed.has(name))
  if ((kind === 'python' || kind === 'script') && renamed.length > 0) {
    return { reason: `${shown(renamed)}, and the script reads it by the name of folio`, key: 'inputs' }
  }
  if (kind === 'sql' && typeof expression === 'string') {
    const words = new Set(
      expression.match(/[A-Za-z_]\w*|"(?:[^"]|"")*"/g)?.map((word) => word.replace(/^"|"$/g, '')),
    )
    const used = [...changed.keys()].filter((name) => words.has(name))
    if (used.length > 0)
      return { reason: `${shown(used)}, and the expression reads it by the name of folio`, key: 'expression' }
  }
  if (kind === 'ai' && typeof path === 'string') {
    const text = new TextDecoder().decode(prompt(path) ?? new Uint8Array())
    const used = [...text.matchAll(PLACEHOLDER)].flatMap(([, name = '']) => (changed.has(name) ? [name] : []))
    if (used.length > 0)
      return { reason: `${shown(used)}, and ${path} names it as in folio`, key: 'prompt_ref' }
  }
  return null
}

const TEMPLATES: ReadonlySet<string> = new Set(['url', 'body_template', 'prompt'])
const BY_TARGET: ReadonlySet<string> = new Set(['value_fields', 'response_schema', 'output_schema'])

function withNames(key: string, value: JsonValue, changed: ReadonlyMap<string, string>): JsonValue {
  if (changed.size === 0) return value
  const nameOf = (name: JsonValue): JsonValue =>
    typeof name === 'string' ? (changed.get(name) ?? name) : name
  if ((key === 'targets' || key === 'inputs') && Array.isArray(value))
    return (value as readonly JsonValue[]).map(nameOf)
  if (TEMPLATES.has(key) && typeof value === 'string') {
    return value.replace(PLACEHOLDER, (whole, name: string) => {
      const other = changed.get(name)
      return other === undefined ? whole : `{{ ${other} }}`
    })
  }
  if (BY_TARGET.has(key) && isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [changed.get(name) ?? name, member]),
    )
  }
  return value
}

/** Returns the allowed part of `materialization`; null for nothing. */
function materializationOf(value: JsonValue, { note }: TranslationContext): JsonValue {
  const members = isJsonObject(value) ? Object.entries(value) : []
  const isAllowed = ([name, member]: readonly [string, JsonValue]): boolean =>
    (name === 'trigger' && member === 'on_demand') || (name === 'respect_human_override' && member === true)
  if (isJsonObject(value) && members.every(isAllowed)) return value
  const overwrites = members.some(([name, member]) => name === 'respect_human_override' && member === false)
  const what = overwrites
    ? 'respect_human_override: false is left out: a run never replaces values written by hand, unless it is asked to overwrite them'
    : `materialization ${showValue(value)} is left out: only trigger: on_demand and respect_human_override: true have a meaning`
  note('cannot', 'materialization', what)
  const allowed = members.filter(isAllowed)
  return allowed.length === 0 ? null : Object.fromEntries(allowed)
}

function translateHttp(keys: Record<string, JsonValue>, { note }: TranslationContext): Translation {
  const headers = keys['headers']
  const hasTemplate =
    isJsonObject(headers) && Object.values(headers).some((value) => JSON.stringify(value).includes('{{'))
  if (hasTemplate)
    return { reason: 'a header has {{, which is text in folio and a placeholder here', key: 'headers' }
  if (keys['response_path'] === undefined && keys['response_schema'] === undefined) {
    keys['response_path'] = '$'
    note('adapted', 'kind', 'without response_path the whole body is the value: response_path is $')
  }
  const { url, body_template: body, method = 'GET' } = keys
  if (typeof url === 'string' && url.includes('{{')) {
    note(
      'adapted',
      'url',
      'values in the URL are percent-encoded, and a record without one of them is skipped; folio inserts the text as it is, and None',
    )
  }
  if (body !== undefined && method === 'GET')
    note('cannot', 'body_template', 'a body is not sent with GET; folio sends it')
  else if (body !== undefined)
    note('adapted', 'body_template', 'values are inserted into the body as JSON; folio inserts their text')
  note(
    'adapted',
    'kind',
    'a response without the path, or that is no JSON, fails the cell; in folio the value is null, or the text of the response',
  )
  return { keys }
}
