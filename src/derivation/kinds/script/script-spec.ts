import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json/json.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { didYouMean } from '../../definition/did-you-mean.ts'
import type { ParseContext } from '../../definition/derivation-kind.ts'

/** The keys of a file of kind `script`. */
export interface ScriptKeys {
  /** The file's name in `scripts/`, without its ending. */
  readonly name: string
  readonly output: 'text' | 'json'
  /** Seconds for one record. */
  readonly timeout: number
  /** The names of the environment variables that the script receives. */
  readonly env: readonly string[]
  /** Whether one process computes many records. */
  readonly batch: boolean
}

const KEYS = ['script', 'output', 'output_schema', 'timeout', 'env', 'batch']

const NAME = /^[A-Za-z0-9_-]{1,100}$/
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Variables that decide how programs are found and loaded, or that every script has. */
const RESERVED_VARIABLE =
  /^(?:PATH|HOME|LANG|TMPDIR|IFS|ENV|BASH_.*|SHELLOPTS|LD_.*|DYLD_.*|PYTHON.*|NODE_.*)$/

const LONGEST_SECONDS = 3600

/** Reads the keys of a file of kind `script`. Throws ContractError. */
export function parseScript(file: JsonObject, targets: readonly string[], context: ParseContext): ScriptKeys {
  const unknown = Object.keys(file).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) {
    const known = KEYS.join(', ')
    context.fail([unknown], `unknown key "${unknown}"; a script has ${known}${didYouMean(unknown, KEYS)}`)
  }
  const name = file['script'] ?? null
  if (name === null) context.fail([], 'script is missing; write the name of a file in scripts/')
  if (typeof name !== 'string' || !NAME.test(name)) {
    context.fail(
      ['script'],
      `script is ${showValue(name)}; write the name of a file in scripts/ without its ending, of letters, digits, _ and -`,
    )
  }
  const output = file['output'] ?? 'text'
  if (output !== 'text' && output !== 'json') {
    context.fail(['output'], `output is ${showValue(output)}; write text or json`)
  }
  const batch = file['batch'] ?? false
  if (typeof batch !== 'boolean') {
    context.fail(['batch'], `batch is ${showValue(batch)}; write true or false`)
  }
  if (targets.length > 1 && output !== 'json' && !batch) {
    context.fail(['output'], 'a script with several targets needs output: json, an object with the targets')
  }
  checkSchema(file['output_schema'] ?? null, targets, context)
  return {
    name,
    output,
    timeout: timeoutOf(file['timeout'] ?? 60, context),
    batch,
    env: envOf(file['env'] ?? [], context),
  }
}

/** Checks `output_schema`, which other programs need and which only repeats the targets. */
function checkSchema(schema: JsonValue, targets: readonly string[], context: ParseContext): void {
  if (schema === null) return
  const names = isJsonObject(schema) ? Object.keys(schema) : []
  if (names.length === targets.length && targets.every((target) => names.includes(target))) return
  context.fail(['output_schema'], `the keys of output_schema are the targets: ${targets.join(', ')}`)
}

function timeoutOf(value: JsonValue, context: ParseContext): number {
  if (typeof value === 'number' && value >= 0.1 && value <= LONGEST_SECONDS) return value
  return context.fail(
    ['timeout'],
    `timeout is ${showValue(value)}; write seconds from 0.1 to ${LONGEST_SECONDS}`,
  )
}

function envOf(value: JsonValue, context: ParseContext): readonly string[] {
  if (!Array.isArray(value)) return context.fail(['env'], 'env is not a list; write env: [NAME, …]')
  const names = (value as readonly JsonValue[]).map((name, index) => {
    const at = ['env', index]
    if (typeof name !== 'string' || !VARIABLE.test(name)) {
      return context.fail(at, `env names ${showValue(name)}; write the name of an environment variable`)
    }
    if (!RESERVED_VARIABLE.test(name)) return name
    return context.fail(at, `env names ${name}, which scripts do not receive; use another name`)
  })
  return [...new Set(names)]
}
