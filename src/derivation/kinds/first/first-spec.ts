import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json/json.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { Contract } from '../../../contract/contract.ts'
import type { FormulaDialect, FormulaInFile } from '../../../store/formula.ts'
import { didYouMean } from '../../definition/did-you-mean.ts'
import type { Derivation, ParseContext } from '../../definition/derivation-kind.ts'
import type { Accept } from './accept.ts'

/** A step of a file. */
export interface Step {
  readonly derivation: Derivation
  readonly accept: Accept | null
}

/** A file of kind `first`. */
export interface FirstSpec {
  readonly steps: readonly Step[]
  readonly targets: readonly string[]
  readonly contract: Contract
  /** The most that the steps may cost for one record, in dollars; null for no bound. */
  readonly maxCost: number | null
}

/** A file of kind `first`, with the formulas that a store can check. */
export interface FirstFile {
  readonly spec: FirstSpec
  readonly formulas: readonly FormulaInFile[]
}

const KEYS = ['steps', 'max_cost_per_record']

/** The most steps of a file. */
const MAX_STEPS = 20

/** Reads the keys of a file of kind `first`. Throws ContractError. */
export function parseFirst(
  file: JsonObject,
  targets: readonly string[],
  { dialect, context }: { readonly dialect: FormulaDialect | undefined; readonly context: ParseContext },
): FirstFile {
  const unknown = Object.keys(file).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) {
    context.fail(
      [unknown],
      `unknown key "${unknown}"; kind first has ${KEYS.join(' and ')}${didYouMean(unknown, KEYS)}`,
    )
  }
  const list = Object.hasOwn(file, 'steps') ? file['steps'] : undefined
  if (list === undefined)
    return context.fail([], 'steps is missing; write a list of what is tried, in its order')
  if (!Array.isArray(list) || list.length === 0) {
    return context.fail(['steps'], `steps is ${showValue(list)}; write a list of steps, such as - kind: http`)
  }
  if (list.length > MAX_STEPS) {
    context.fail(['steps', MAX_STEPS], `steps has ${list.length} steps; at most ${MAX_STEPS} are allowed`)
  }
  const formulas: FormulaInFile[] = []
  const steps = (list as readonly JsonValue[]).map((keys, index): Step => {
    const at = ['steps', index]
    if (!isJsonObject(keys)) {
      return context.fail(
        at,
        `step ${index + 1} is ${showValue(keys)}; write a map with kind and the keys of that kind`,
      )
    }
    const { accept: condition = null, ...own } = keys
    const derivation = context.step(at, own)
    formulas.push(...derivation.formulas)
    if (condition === null) return { derivation, accept: null }
    const fail = (message: string): never =>
      context.fail([...at, 'accept'], `accept of step ${index + 1} cannot be used: ${message}`)
    const accept = readAccept(condition, { dialect, context, fail })
    formulas.push({ formula: accept.formula, fail })
    return { derivation, accept }
  })
  const maxCost = readMaxCost(file, context)
  return { spec: { steps, targets, contract: context.contract, maxCost }, formulas }
}

interface AcceptContext {
  readonly dialect: FormulaDialect | undefined
  readonly context: ParseContext
  fail(message: string): never
}

function readAccept(condition: JsonValue, { dialect, context, fail }: AcceptContext): Accept {
  if (typeof condition !== 'string' || condition.trim() === '') {
    return fail(`it is ${showValue(condition)}; write an SQL expression, such as email LIKE '%@%'`)
  }
  if (dialect === undefined) return fail('this program computes no formulas')
  const { fields } = context.contract
  const expression = condition.trim()
  try {
    const names = dialect.read(expression, fields)
    const inputs = fields.filter(({ name }) => names.includes(name)).map(({ name, type }) => ({ name, type }))
    return { formula: { expression, inputs, type: 'boolean' } }
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    return fail(error.message)
  }
}

function readMaxCost(file: JsonObject, context: ParseContext): number | null {
  const value = Object.hasOwn(file, 'max_cost_per_record') ? (file['max_cost_per_record'] ?? null) : null
  if (value === null) return null
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= 1e6) return value
  return context.fail(
    ['max_cost_per_record'],
    `max_cost_per_record is ${showValue(value)}; write dollars, such as 0.02`,
  )
}
