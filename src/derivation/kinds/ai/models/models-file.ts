import { isJsonObject, type JsonObject, type JsonValue } from '../../../../contract/json/json.ts'
import { showValue } from '../../../../contract/json/show-value.ts'
import { parseYamlFile, type YamlFile } from '../../../../contract/yaml/yaml-file.ts'
import type { Contract } from '../../../../contract/contract.ts'
import { ContractError, fileError } from '../../../../errors/service-error.ts'
import { didYouMean } from '../../../definition/did-you-mean.ts'
import { MODELS_FILE } from '../../../definition/source-path.ts'
import { hostOfUrl } from '../../../definition/host-key.ts'
import { parseHeaders, type PlannedHeader } from '../../../transport/headers/header-template.ts'
import type { TokenPrices } from './price.ts'

/** The APIs that models are called through. */
export const APIS = ['openai', 'anthropic'] as const

/** The ways of requesting an answer that satisfies a schema. */
export const STRUCTURED_OUTPUTS = ['json_schema', 'json_object', 'none'] as const

/** The names under which servers take the bound on output tokens. */
export const OUTPUT_LIMITS = ['max_tokens', 'max_completion_tokens'] as const

/** An entry of `models.yaml`. */
export interface Model {
  /** Its name in the file. */
  readonly name: string
  readonly api: (typeof APIS)[number]
  /** The base URL, without a slash at its end. */
  readonly url: string
  /** `host:port` of the URL. */
  readonly host: string
  /** The name of the model at its API. */
  readonly model: string
  readonly headers: readonly PlannedHeader[]
  /** Null for an unknown price. */
  readonly price: TokenPrices | null
  readonly structuredOutput: (typeof STRUCTURED_OUTPUTS)[number]
  readonly outputLimit: (typeof OUTPUT_LIMITS)[number]
}

const KEYS = ['api', 'url', 'model', 'headers', 'price', 'structured_output', 'output_limit'] as const

const PRICES = ['input', 'cached_input', 'cache_write', 'output', 'as_of'] as const

/** Dollars for a million tokens; more is a typing error. */
const HIGHEST_PRICE = 10_000

/**
 * Reads `models.yaml`: the models by their names. A key whose value is null counts as absent. Throws ContractError
 * `models.yaml:<line>: …`.
 */
export function parseModels(bytes: Uint8Array, contract: Contract): ReadonlyMap<string, Model> {
  const yaml = parseYamlFile(decode(bytes), MODELS_FILE)
  const top = mapAt([], yaml.value ?? {}, { yaml, expected: 'a map with the key models' })
  refuseOthers([], Object.keys(top), { known: ['models'], yaml, holder: 'the file' })
  const expected = 'a map of names to models, such as small: {api: openai, url: …, model: …}'
  const models = mapAt(['models'], top['models'] ?? {}, { yaml, expected })
  return new Map(Object.keys(models).map((name) => [name, readModel(name, models, { yaml, contract })]))
}

type Path = readonly string[]

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const message = 'the file is not UTF-8 text; save it as UTF-8'
    throw new ContractError(...fileError({ file: MODELS_FILE, line: 1, message }, 'invalid_definition'))
  }
}

function mapAt(
  path: Path,
  value: JsonValue,
  { yaml, expected }: { readonly yaml: YamlFile; readonly expected: string },
): JsonObject {
  if (!isJsonObject(value)) {
    const name = path.at(-1) ?? 'the file'
    return yaml.fail(path, `${name} is ${showValue(value)}; write ${expected}`)
  }
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
}

function refuseOthers(
  path: Path,
  keys: readonly string[],
  { known, yaml, holder }: { known: readonly string[]; yaml: YamlFile; holder: string },
): void {
  const other = keys.find((key) => !known.includes(key))
  if (other === undefined) return
  const hint = didYouMean(other, known)
  yaml.fail([...path, other], `unknown key ${showValue(other)}; ${holder} has ${known.join(', ')}${hint}`)
}

interface ModelsFile {
  readonly yaml: YamlFile
  readonly contract: Contract
}

function readModel(name: string, models: JsonObject, { yaml, contract }: ModelsFile): Model {
  const path = ['models', name]
  const expected = 'a map with api, url and model'
  const entry = mapAt(path, models[name] ?? {}, { yaml, expected })
  refuseOthers(path, Object.keys(entry), { known: KEYS, yaml, holder: 'a model' })
  const given = { entry, path, yaml }
  const api = oneOf('api', APIS, given) ?? yaml.fail(path, `api is missing; write ${APIS.join(' or ')}`)
  const structuredOutput = oneOf('structured_output', STRUCTURED_OUTPUTS, given) ?? 'json_schema'
  if (api === 'anthropic' && structuredOutput === 'json_object') {
    yaml.fail(
      [...path, 'structured_output'],
      'structured_output is "json_object", which the API anthropic does not have; write json_schema or none',
    )
  }
  const outputLimit = oneOf('output_limit', OUTPUT_LIMITS, given) ?? 'max_tokens'
  if (api === 'anthropic' && outputLimit !== 'max_tokens') {
    yaml.fail([...path, 'output_limit'], 'output_limit is for the API openai; take it out')
  }
  return {
    name,
    api,
    ...readUrl(given),
    model: textOf('model', given),
    headers: readHeaders(given, contract),
    price: readPrice(given),
    structuredOutput,
    outputLimit,
  }
}

interface Entry {
  readonly entry: JsonObject
  readonly path: Path
  readonly yaml: YamlFile
}

function valueOf(key: string, { entry }: Entry): JsonValue | undefined {
  return Object.hasOwn(entry, key) ? entry[key] : undefined
}

function textOf(key: string, given: Entry): string {
  const { path, yaml } = given
  const value = valueOf(key, given)
  if (value === undefined) return yaml.fail(path, `${key} is missing; a model has api, url and model`)
  if (typeof value === 'string' && value.trim() !== '') return value
  return yaml.fail([...path, key], `${key} is ${showValue(value)}; write a text`)
}

function oneOf<T extends string>(key: string, known: readonly T[], given: Entry): T | undefined {
  const value = valueOf(key, given)
  if (value === undefined) return undefined
  const { path, yaml } = given
  return (
    known.find((name) => name === value) ??
    yaml.fail([...path, key], `${key} is ${showValue(value)}; write ${known.join(', ')}`)
  )
}

function readUrl(given: Entry): Pick<Model, 'url' | 'host'> {
  const { path, yaml } = given
  const text = textOf('url', given)
  const fail = (message: string): never => yaml.fail([...path, 'url'], message)
  if (text.includes('{{')) fail('url has a placeholder, which only headers can have')
  const parsed = URL.parse(text)
  if (parsed === null || !/^https?:\/\//i.test(text) || parsed.hostname === '') {
    return fail(`url is ${showValue(text)}; write a URL such as http://127.0.0.1:11434/v1`)
  }
  if (/[^\x21-\x7e]|\\/.test(text)) fail('url has a character that no URL can have; percent-encode it')
  if (parsed.username !== '' || parsed.password !== '') {
    fail('url has a user name or password; send credentials in a header, as {{ env.NAME }}')
  }
  if (/[?#]/.test(text)) fail('url has a query or a fragment; write it up to the path, such as …/v1')
  const ending = /\/(?:chat\/completions|messages)\/*$/.exec(text)
  if (ending !== null) fail(`url ends in ${ending[0]}, which is added; write it up to there`)
  return { url: text.replace(/\/+$/, ''), host: hostOfUrl(parsed) }
}

function readHeaders(given: Entry, contract: Contract): readonly PlannedHeader[] {
  const { path, yaml } = given
  const headers = parseHeaders(valueOf('headers', given) ?? {}, {
    contract,
    fail: (inside, message) => yaml.fail([...path, ...inside], message),
  })
  return headers.map(({ name, parts }) => {
    const own = parts.flatMap((part) => (typeof part === 'object' && 'field' in part ? [] : [part]))
    if (own.length < parts.length) {
      yaml.fail(
        [...path, 'headers', name],
        `the header "${name}" has a placeholder of a field; it can have {{ env.NAME }}`,
      )
    }
    return { name, parts: own }
  })
}

function readPrice(given: Entry): TokenPrices | null {
  const value = valueOf('price', given)
  if (value === undefined) return null
  const { yaml } = given
  const path = [...given.path, 'price']
  const expected = 'dollars for a million tokens, such as {input: 0.15, output: 0.60, as_of: 2026-11-01}'
  const entry = mapAt(path, value, { yaml, expected })
  refuseOthers(path, Object.keys(entry), { known: PRICES, yaml, holder: 'a price' })
  const dollars = (key: string): number | null => {
    const amount = valueOf(key, { entry, path, yaml })
    if (amount === undefined) return null
    if (typeof amount === 'number' && amount >= 0 && amount <= HIGHEST_PRICE) return amount
    return yaml.fail([...path, key], `${key} is ${showValue(amount)}; write ${expected}`)
  }
  const needed = (key: string): number =>
    dollars(key) ?? yaml.fail(path, `${key} is missing; write ${expected}`)
  const asOf = valueOf('as_of', { entry, path, yaml })
  if (asOf !== undefined && (typeof asOf !== 'string' || !isDate(asOf))) {
    yaml.fail(
      [...path, 'as_of'],
      `as_of is ${showValue(asOf)}; write the date of the price, such as 2026-11-01`,
    )
  }
  const input = needed('input')
  return {
    input,
    output: needed('output'),
    cachedInput: dollars('cached_input') ?? input,
    cacheWrite: dollars('cache_write'),
  }
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
}
