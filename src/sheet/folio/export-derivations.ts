import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { showNames, showValue } from '../../contract/json/show-value.ts'
import { parseYamlFile } from '../../contract/yaml/yaml-file.ts'
import type { Derivation } from '../../derivation/definition/derivation-kind.ts'
import { SCRIPT_ENDINGS } from '../../derivation/definition/source-path.ts'
import { isStatement } from '../../derivation/kinds/sql/query-spec.ts'
import { ContractError } from '../../errors/service-error.ts'
import type { DifferenceReport } from '../../files/folio/difference-report.ts'
import { parseFolioYaml } from '../../files/folio/folio-yaml.ts'
import { yamlText } from '../../files/inference/contract-text.ts'
import { KEPT_ENDING, type NewFile } from './adopt-derivations.ts'
import { translateDerivation } from './translate-derivation.ts'

export interface DerivationExport {
  readonly derivations: readonly Derivation[]
  /** Names in folio by fields. */
  readonly names: ReadonlyMap<string, string>
  /** Whether a path is that of a definition file of the sheet, such as a script that a derivation runs. */
  has(path: string): boolean
  /** Returns a file of the sheet's directory; null if there is none. */
  read(path: string): Uint8Array | null
  readonly report: DifferenceReport
}

export interface ExportedDerivations {
  readonly files: readonly NewFile[]
  /** The exported derivations. */
  readonly exported: readonly Derivation[]
}

const COMMON = ['targets', 'inputs', 'kind', 'materialization']

/** The keys of each kind in folio. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  http: ['url', 'method', 'headers', 'body_template', 'response_path', 'response_schema'],
  import: ['source', 'key_field', 'value_field', 'value_fields'],
  sql: ['expression', 'output_schema'],
  python: ['script', 'output', 'output_schema'],
  cross_sheet: ['source_sheet', 'key_field', 'value_field', 'value_fields'],
  ai: ['model', 'prompt', 'prompt_ref', 'output', 'output_schema'],
}

/** Keys whose value here is that of folio without the key. */
const DEFAULTS: Readonly<Record<string, JsonValue>> = { match: 'id', when_missing: 'skip', skip_blank: false }

/** Returns the derivation files for folio, and reports those that it cannot have. */
export function exportDerivations({
  derivations,
  names,
  has,
  read,
  report,
}: DerivationExport): ExportedDerivations {
  const files: NewFile[] = []
  const exported: Derivation[] = []
  for (const derivation of derivations) {
    const path = `derivations/${derivation.file}`
    const original = originalOf(derivation, names, read)
    const found = original === null ? translated(derivation, { names, has }) : { bytes: original }
    if ('reason' in found) {
      const message = `the derivation is not exported: ${found.reason}; the values of ${showNames(derivation.targets)} are`
      report.add('cannot', { file: path, line: found.line }, message)
      continue
    }
    files.push({ path, bytes: found.bytes })
    exported.push(derivation)
    if (original === null && Buffer.compare(found.bytes, Buffer.from(derivation.text)) !== 0) {
      report.add('adapted', { file: path }, 'the file is written anew for folio, without comments')
    }
  }
  return { files, exported }
}

/** Returns the file of folio from which an unchanged file was made; null for an edited one and for others. */
function originalOf(
  { file, text }: Derivation,
  names: ReadonlyMap<string, string>,
  read: DerivationExport['read'],
): Uint8Array | null {
  const bytes = read(`derivations/${file}${KEPT_ENDING}`)
  if (bytes === null) return null
  const back = new Map([...names].map(([name, folio]) => [folio, name]))
  try {
    const { value } = parseFolioYaml(bytes, file)
    if (!isJsonObject(value)) return null
    const made = translateDerivation(value, {
      names: back,
      prompt: read,
      hasSheet: () => true,
      note: () => undefined,
    })
    if ('reason' in made) return null
    const isMade = [made.keys, { ...made.keys, inputs: [] }].some((keys) => yamlText(keys) === text)
    return isMade ? bytes : null
  } catch (error) {
    if (error instanceof ContractError) return null
    throw error
  }
}

type Translated = { readonly bytes: Uint8Array } | { readonly reason: string; readonly line: number | null }

function translated(
  { file, text, kind }: Derivation,
  { names, has }: Pick<DerivationExport, 'names' | 'has'>,
): Translated {
  const yaml = parseYamlFile(text, file)
  const keys = Object.fromEntries(
    Object.entries(yaml.value as JsonObject).filter(([, value]) => value !== null),
  )
  const folioKind = kind.name === 'script' ? 'python' : kind.name
  const known = KINDS[folioKind]
  if (known === undefined || !Object.hasOwn(KINDS, folioKind)) {
    return { reason: `folio has no kind ${showValue(kind.name)}`, line: yaml.lineOf(['kind']) }
  }
  const reversed = translateDerivation(keys, {
    names,
    prompt: () => null,
    hasSheet: () => true,
    note: () => undefined,
  })
  if ('reason' in reversed) return { reason: reversed.reason, line: yaml.lineOf([reversed.key]) }
  const made: Record<string, JsonValue> = {}
  for (const [key, value] of Object.entries(reversed.keys)) {
    if (Object.hasOwn(DEFAULTS, key) && DEFAULTS[key] === keys[key]) continue
    if (key === 'output' && folioKind === 'http') continue
    if (key === 'response_path' && value === '$') continue
    if (![...COMMON, ...known].includes(key)) {
      return {
        reason: `folio has no key ${showValue(key)} in a file of kind ${folioKind}`,
        line: yaml.lineOf([key]),
      }
    }
    made[key] = key === 'kind' ? folioKind : value
  }
  const fault = valueFault(made, folioKind, has)
  if (fault !== null) return { reason: fault.reason, line: yaml.lineOf([fault.key]) }
  const isSame = JSON.stringify(made) === JSON.stringify(yaml.value)
  return { bytes: Buffer.from(isSame ? text : yamlText(made)) }
}

/** The endings of scripts in folio. */
const FOLIO_SCRIPTS: readonly string[] = ['.py', '.sh']

/** Returns the ending of the script that a derivation runs; null if there is none. */
function endingOf(script: string, has: DerivationExport['has']): string | null {
  return SCRIPT_ENDINGS.find((ending) => has(`scripts/${script}${ending}`)) ?? null
}

/** Returns why folio cannot have a value; null if it can. */
function valueFault(
  keys: JsonObject,
  kind: string,
  has: DerivationExport['has'],
): { readonly reason: string; readonly key: string } | null {
  const { body_template: body, headers, source, script, targets } = keys
  if (kind === 'http') {
    if (body !== undefined && typeof body !== 'string')
      return { reason: 'a body in folio is a text', key: 'body_template' }
    if (isJsonObject(headers) && JSON.stringify(headers).includes('{{')) {
      return { reason: 'folio has no placeholders in headers', key: 'headers' }
    }
    const schema = keys['response_schema']
    if (schema !== undefined && Array.isArray(targets) && targets.length === 1) {
      return { reason: 'folio has response_schema for several targets only', key: 'response_schema' }
    }
  }
  if (kind === 'import' && typeof source === 'string' && !/\.(?:csv|jsonl|json)$/i.test(source)) {
    return { reason: `folio reads no ${showValue(source)}, but CSV, JSON and JSONL`, key: 'source' }
  }
  if (kind === 'sql') {
    const { expression = null } = keys
    if (typeof expression !== 'string' || !isStatement(expression))
      return { reason: 'folio has no formulas, but statements', key: 'expression' }
    // Perhaps within a text, where it would be the same in folio.
    if (/:[A-Za-z_]/.test(expression.replaceAll('::', '')))
      return { reason: 'folio has no placeholders with names, but ?', key: 'expression' }
  }
  if (kind === 'python' && typeof script === 'string') {
    const ending = endingOf(script, has)
    if (ending !== null && !FOLIO_SCRIPTS.includes(ending))
      return {
        reason: `folio runs no script ${showValue(`${script}${ending}`)}, but .py and .sh`,
        key: 'script',
      }
  }
  return null
}
